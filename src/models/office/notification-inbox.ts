// What an administrator sees of the notifications: pages, how many are unread, reading them.
import Joi from 'joi';
import { now } from '../../lib/values/clock.js';
import { change, select } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import {
  listQuery,
  orderSql,
  toPage,
  Where,
  type Criteria,
  type ListQuery,
  type Page,
} from '../../lib/input/list-query.js';
import { Admin } from '../access/tables.js';
import { columnsOf, computed, selection, type Selection } from '../tables/selection.js';
import { cachedCounts } from '../tables/count.js';
import { deliver, type NotificationRecord } from './notification.js';
import { Notification, NotificationMark, notificationTypes, type NotificationType } from './tables.js';

const notificationFilters = {
  type: Joi.string<NotificationType>().valid(...notificationTypes),
  is_read: Joi.boolean(),
};

type NotificationFilter = Criteria<typeof notificationFilters> & ListQuery;

/** The query of the list. */
export const notificationQuery = listQuery<NotificationFilter>(
  ['id', 'type', 'title', 'created_at'],
  notificationFilters,
);

/** A page, and how many notifications are unread in all. */
export async function listNotifications(
  adminId: number,
  query: NotificationFilter,
): Promise<Page<NotificationRecord> & { unread_count: number }> {
  const reader = await readerOf(adminId);
  const [unread_count, list, total] = await Promise.all([
    countOf(reader, { is_read: false }),
    readPage(reader, query),
    countOf(reader, query),
  ]);
  return { ...toPage(query, list, total), unread_count };
}

/** A notification as that administrator sees it. @throws notification_not_found also when it is another's */
export async function getNotification(adminId: number, id: number): Promise<NotificationRecord> {
  const found = await inbox.first(
    'WHERE n.id = ? AND (n.receiver_id = a.id OR (n.receiver_id IS NULL AND n.created_at >= a.created_at))',
    [adminId, id],
  );
  return found ?? fail('notification_not_found');
}

export async function countUnread(adminId: number): Promise<number> {
  return countOf(await readerOf(adminId), { is_read: false });
}

/** Marks one as read; reading twice changes nothing. @throws notification_not_found also when it is another's */
export async function readNotification(adminId: number, id: number): Promise<void> {
  await getNotification(adminId, id);
  await change(
    'INSERT IGNORE INTO notification_reads (admin_id, notification_id, read_at) VALUES (:adminId, :id, :at)',
    { adminId, id, at: now() },
  );
  await deliver({ adminId, frame: { type: 'read', data: { ids: [id] } } });
}

/** Marks everything up to now as read. */
export async function readAllNotifications(adminId: number): Promise<void> {
  await change(
    `INSERT INTO notification_marks (admin_id, read_until) VALUES (:adminId, :at)
     ON DUPLICATE KEY UPDATE read_until = GREATEST(read_until, VALUES(read_until))`,
    { adminId, at: now() },
  );
  await deliver({ adminId, frame: { type: 'read_all' } });
}

/** Before anything was read. */
const never = new Date(0);

/** As the administrator sees them whose id is the first value. */
const inbox: Selection<NotificationRecord> = selection(
  {
    ...columnsOf(Notification, 'n'),
    is_read: computed(
      '(r.read_at IS NOT NULL OR (m.read_until IS NOT NULL AND n.created_at <= m.read_until))',
      (stored) => stored === 1,
    ),
    read_at: computed<Date | null>(
      'COALESCE(r.read_at, IF(n.created_at <= m.read_until, m.read_until, NULL))',
    ),
  },
  'notifications n',
  `JOIN admins a ON a.id = ?
   LEFT JOIN notification_reads r ON r.notification_id = n.id AND r.admin_id = a.id
   LEFT JOIN notification_marks m ON m.admin_id = a.id`,
);

/** How far an administrator has read. */
interface Reader {
  id: number;
  /** Announcements from before the administrator was created are not shown. */
  since: Date;
  /** Everything up to that instant is read. */
  until: Date;
}

async function readerOf(id: number): Promise<Reader> {
  const [admin, mark] = await Promise.all([
    Admin.findByPk(id, { attributes: ['created_at'] }),
    NotificationMark.findByPk(id, { attributes: ['read_until'] }),
  ]);
  return { id, since: admin?.created_at ?? now(), until: mark?.read_until ?? never };
}

type Filter = Partial<NotificationFilter>;

/** What is sent to that administrator, and what is sent to everybody: each has an index in the order of the list. */
const boxesOf = ({ id, since }: Reader, { type, ...times }: Filter): Where[] =>
  [
    new Where().and('n.receiver_id = ?', id),
    new Where().and('n.receiver_id IS NULL AND n.created_at >= ?', since),
  ].map((box) => box.equals('n.type', type).during('n.created_at', times));

/** The notifications of a box: all, the read ones or the unread ones. */
function stateSql({ id, until }: Reader, box: Where, isRead: boolean | undefined) {
  if (isRead === undefined) return { sql: box.sql, values: box.values };
  const state = isRead
    ? box.and('(r.read_at IS NOT NULL OR n.created_at <= ?)', until)
    : box.and('r.read_at IS NULL AND n.created_at > ?', until);
  const reads = 'LEFT JOIN notification_reads r ON r.notification_id = n.id AND r.admin_id = ?';
  return { sql: `${reads} ${state.sql}`, values: [id, ...state.values] };
}

async function countOf(reader: Reader, filter: Filter): Promise<number> {
  const counts = boxesOf(reader, filter).map(async (box) => {
    const { sql, values } = stateSql(reader, box, filter.is_read);
    const [row] = await cachedCounts.select<{ total: number }>(
      `SELECT COUNT(*) AS total FROM notifications n ${sql}`,
      values,
    );
    return row?.total ?? 0;
  });
  return (await Promise.all(counts)).reduce((sum, total) => sum + total, 0);
}

async function readPage(reader: Reader, query: NotificationFilter): Promise<NotificationRecord[]> {
  const needed = query.page * query.page_size;
  // The index gives the order, so that reading ends with the page; for unread ones the server chooses better.
  const isById = query.is_read !== false && query.order_by[0]?.field === 'id';
  const index = query.type ? 'ix_notifications_of_type' : 'ix_notifications_of';
  const sources = boxesOf(reader, query).map((box) => {
    const { sql, values } = stateSql(reader, box, query.is_read);
    const from = `SELECT n.id, n.type, n.title, n.created_at FROM notifications n ${isById ? `FORCE INDEX (${index})` : ''}`;
    return { sql: `(${from} ${sql} ${orderSql(query, 'n')} LIMIT ${needed})`, values };
  });
  const keys = await select<{ id: number }>(
    `SELECT k.id FROM (${sources.map(({ sql }) => sql).join(' UNION ALL ')}) k
     ${orderSql(query, 'k')} LIMIT ${query.page_size} OFFSET ${needed - query.page_size}`,
    sources.flatMap(({ values }) => values),
  );
  if (keys.length === 0) return [];
  const ids = keys.map(({ id }) => id);
  const rows = await inbox.rows('WHERE n.id IN (?)', [reader.id, ids]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}
