// What an administrator sees of the notifications: pages, how many are unread, reading them.
import { now } from '../../lib/values/clock.js';
import { change, reports, type SqlValue } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import { Where, type Page } from '../../lib/input/list-query.js';
import { Admin } from '../access/tables.js';
import { columnsOf, computed, selection, type Selection } from '../tables/selection.js';
import { count } from '../tables/count.js';
import { listPage } from '../tables/page.js';
import { deliver, type NotificationFilter, type NotificationRecord } from './notification.js';
import { Notification, NotificationMark } from './tables.js';

/** A page, and how many notifications are unread in all. */
export async function listNotifications(
  adminId: number,
  query: NotificationFilter,
): Promise<Page<NotificationRecord> & { unread_count: number }> {
  const reader = await readerOf(adminId);
  const read = (tail: string, values: SqlValue[]) => inbox.rows(tail, [adminId, ...values], { on: reports });
  const [unread_count, page] = await Promise.all([
    count('notifications n', seenBy(reader, { is_read: false })),
    listPage('notifications n', read, seenBy(reader, query), query),
  ]);
  return { ...page, unread_count };
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
  return count('notifications n', seenBy(await readerOf(adminId), { is_read: false }));
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

/** The condition of what an administrator sees, over `notifications n`. */
function seenBy({ id, since, until }: Reader, filter: Partial<NotificationFilter>): Where {
  const { type, is_read, ...times } = filter;
  const where = new Where()
    .and('(n.receiver_id = ? OR (n.receiver_id IS NULL AND n.created_at >= ?))', id, since)
    .equals('n.type', type)
    .during('n.created_at', times);
  if (is_read === undefined) return where;
  const known =
    'EXISTS (SELECT 1 FROM notification_reads k WHERE k.notification_id = n.id AND k.admin_id = ?)';
  return is_read
    ? where.and(`(n.created_at <= ? OR ${known})`, until, id)
    : where.and(`n.created_at > ? AND NOT ${known}`, until, id);
}
