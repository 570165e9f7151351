// What an administrator sees of the notifications: pages, how many are unread, reading them.
import { now } from '../../lib/values/clock.js';
import { change, select, transact, type SqlValue } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import { orderSql, toPage, Where, type Page } from '../../lib/input/list-query.js';
import { Admin } from '../access/tables.js';
import { columnsOf, computed, selection, type Selection } from '../tables/selection.js';
import { count, figures } from '../tables/count.js';
import { deliver, type NotificationFilter, type NotificationRecord } from './notification.js';
import { Notification, NotificationMark } from './tables.js';

/** A page, and how many notifications are unread in all. */
export async function listNotifications(
  adminId: number,
  query: NotificationFilter,
): Promise<Page<NotificationRecord> & { unread_count: number }> {
  const reader = await readerOf(adminId);
  const boxes = boxesOf(reader).map((box) => box.equals('n.type', query.type).during('n.created_at', query));
  const [unread_count, list, sent] = await Promise.all([
    unreadOf(reader),
    readPage(reader, boxes, query),
    Promise.all(boxes.map(countBox)),
  ]);
  const all = sent.reduce((sum, count) => sum + count, 0);
  const total =
    query.is_read === undefined ? all : await countByState(reader, boxes, query, all, unread_count);
  return { ...toPage(query, list, total), unread_count };
}

/** A notification as that administrator sees it. @throws notification_not_found also when it is another's */
export async function findNotification(adminId: number, id: number): Promise<NotificationRecord> {
  const found = await inbox.first(
    'WHERE n.id = ? AND (n.receiver_id = a.id OR (n.receiver_id IS NULL AND n.created_at >= a.created_at))',
    [adminId, id],
  );
  return found ?? fail('notification_not_found');
}

export async function countUnread(adminId: number): Promise<number> {
  return unreadOf(await readerOf(adminId));
}

/** Marks one as read; reading twice changes nothing. @throws notification_not_found also when it is another's */
export async function readNotification(adminId: number, id: number): Promise<void> {
  const { created_at } = await findNotification(adminId, id);
  await transact(async (t) => {
    // It may be deleted meanwhile (notification-retention.ts), and must not be counted then.
    const found = await Notification.findByPk(id, { lock: t.LOCK.SHARE, transaction: t });
    if (!found) fail('notification_not_found');
    const isNew = await change(
      `INSERT IGNORE INTO notification_reads (admin_id, notification_id, read_at) VALUES (:adminId, :id, :at)`,
      { adminId, id, at: now() },
      t,
    );
    if (isNew === 0) return;
    await change(
      `INSERT INTO notification_marks (admin_id, read_until, read_above) VALUES (:adminId, :never, 1)
       ON DUPLICATE KEY UPDATE read_above = read_above + (read_until < :created_at)`,
      { adminId, never, created_at },
      t,
    );
  });
  await deliver({ adminId, frame: { type: 'read', data: { ids: [id] } } });
}

/** Marks everything up to now as read. */
export async function readAllNotifications(adminId: number): Promise<void> {
  const at = now();
  await transact(async (t) => {
    await change(
      `INSERT INTO notification_marks (admin_id, read_until) VALUES (:adminId, :at)
       ON DUPLICATE KEY UPDATE read_until = GREATEST(read_until, VALUES(read_until))`,
      { adminId, at },
      t,
    );
    // Clocks differ: something newer than this may have been read.
    await change(
      `UPDATE notification_marks SET read_above = (SELECT COUNT(*) FROM notifications n
         JOIN notification_reads r ON r.notification_id = n.id AND r.admin_id = :adminId WHERE n.created_at > :at)
       WHERE admin_id = :adminId`,
      { adminId, at },
      t,
    );
  });
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
  /** Of what is newer, how many were read one by one. */
  readAbove: number;
}

async function readerOf(id: number): Promise<Reader> {
  const [admin, mark] = await Promise.all([
    Admin.findByPk(id, { attributes: ['created_at'] }),
    NotificationMark.findByPk(id),
  ]);
  return {
    id,
    since: admin?.created_at ?? now(),
    until: mark?.read_until ?? never,
    readAbove: mark?.read_above ?? 0,
  };
}

/** What is sent to that administrator, and what is sent to everybody. */
const boxesOf = ({ id, since }: Reader): Where[] => [
  new Where().and('n.receiver_id = ?', id),
  new Where().and('n.receiver_id IS NULL AND n.created_at >= ?', since),
];

const countBox = (box: Where): Promise<number> => count('notifications n', box);

async function unreadOf(reader: Reader): Promise<number> {
  const unread = boxesOf(reader).map((box) => countBox(box.and('n.created_at > ?', reader.until)));
  const [own, shared] = (await Promise.all(unread)) as [number, number];
  return Math.max(0, own + shared - reader.readAbove);
}

async function countByState(
  reader: Reader,
  boxes: readonly Where[],
  query: NotificationFilter,
  all: number,
  unread: number,
): Promise<number> {
  const { type, start_time, end_time, start_date, end_date } = query;
  const isFiltered = [type, start_time, end_time, start_date, end_date].some(
    (filter) => filter !== undefined,
  );
  if (!isFiltered) return query.is_read ? all - unread : unread;
  const [row] = await figures.select<{ total: number }>(
    `SELECT COUNT(*) AS total FROM (${boxes.map((box) => stateSql(reader, box, query).sql).join(' UNION ALL ')}) both_boxes`,
    boxes.flatMap((box) => stateSql(reader, box, query).values),
  );
  return row?.total ?? 0;
}

/** The notifications of a box: all, the read ones or the unread ones. */
function stateSql(
  reader: Reader,
  box: Where,
  { is_read, type, order_by }: NotificationFilter,
): { sql: string; values: SqlValue[] } {
  const columns = 'SELECT n.id, n.type, n.title, n.created_at FROM notifications n';
  // The index gives the order, so that reading ends with the page; for unread ones the server chooses better.
  const isById = is_read !== false && order_by[0]?.field === 'id';
  const hint = isById ? `FORCE INDEX (${type ? 'ix_notifications_of_type' : 'ix_notifications_of'})` : '';
  if (is_read === undefined) return { sql: `${columns} ${hint} ${box.sql}`, values: box.values };
  const state = is_read
    ? box.with('(r.read_at IS NOT NULL OR n.created_at <= ?)', reader.until)
    : box.with('r.read_at IS NULL AND n.created_at > ?', reader.until);
  return {
    sql: `${columns} ${hint} LEFT JOIN notification_reads r ON r.notification_id = n.id AND r.admin_id = ? ${state.sql}`,
    values: [reader.id, ...state.values],
  };
}

async function readPage(
  reader: Reader,
  boxes: readonly Where[],
  query: NotificationFilter,
): Promise<NotificationRecord[]> {
  const needed = query.page * query.page_size;
  const sources = boxes.map((box) => {
    const { sql, values } = stateSql(reader, box, query);
    return { sql: `(${sql} ${orderSql(query, 'n')} LIMIT ${needed})`, values };
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
