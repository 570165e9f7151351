// notifications: messages to administrators. One for everybody is stored once; who has read it is kept per administrator.
import { now } from '../lib/clock.js';
import { change, insert, select, type SqlValue } from '../lib/db.js';
import { fail } from '../lib/errors.js';
import { pageSql, toPage, Where, type ListQuery, type Page } from '../lib/list-query.js';
import { logger } from '../lib/logger.js';
import { publish } from '../lib/pubsub.js';

export const notificationTypes = ['announcement', 'message', 'system'] as const;

export type NotificationType = (typeof notificationTypes)[number];

export interface NotificationRecord {
  id: number;
  type: NotificationType;
  title: string;
  content: string;
  sender_id: number | null;
  receiver_id: number | null;
  is_read: boolean;
  read_at: Date | null;
  created_at: Date;
}

export interface NotificationFilter extends ListQuery {
  type?: NotificationType;
  is_read?: boolean;
}

export interface NewNotification {
  type: NotificationType;
  title: string;
  content: string;
  senderId?: number;
  /** Nobody named: every administrator. */
  receiverIds?: number[];
  /** Names the event it tells of; a second notification of the same event is not made. */
  eventKey?: string;
}

export const notificationSortable = ['id', 'type', 'title', 'created_at'] as const;

/** What travels to the sockets: a frame, and whose it is (undefined: everybody's). */
export interface Delivery {
  adminId?: number;
  frame: { type: string; data?: unknown };
}

/** Name of the channel that every API process delivers from. */
export const deliveryChannel = 'deliveries';

/** Hands a frame to the sockets of an administrator, or of everybody, on every API process. Missing it loses nothing. */
export async function deliver(delivery: Delivery): Promise<void> {
  await publish(deliveryChannel, delivery).catch((error: unknown) =>
    logger.warn({ error }, 'a frame could not be delivered; its row remains'),
  );
}

/**
 * Stores a notification, then delivers it.
 *
 * @returns the records, one per named receiver; none when the event was told before
 * @throws receiver_unknown
 */
export async function notify(notification: NewNotification): Promise<NotificationRecord[]> {
  const { type, title, content, senderId, receiverIds } = notification;
  if (receiverIds) await receiversMustExist(receiverIds);
  const created_at = now();
  const made: NotificationRecord[] = [];
  for (const receiverId of receiverIds ?? [undefined]) {
    const id = await store(notification, receiverId, created_at);
    if (id === 0) continue;
    await deliver({
      adminId: receiverId,
      frame: { type: 'notification', data: { id, title, content, created_at, type, is_read: false } },
    });
    const owners = { sender_id: senderId ?? null, receiver_id: receiverId ?? null };
    made.push({ id, type, title, content, ...owners, is_read: false, read_at: null, created_at });
  }
  return made;
}

export async function listNotifications(
  adminId: number,
  query: NotificationFilter,
): Promise<Page<NotificationRecord>> {
  const mine = visibleTo(adminId).equals('n.type', query.type).during('n.created_at', query);
  if (query.is_read !== undefined) mine.and(query.is_read ? readSql : `NOT ${readSql}`);
  const [rows, [count]] = await Promise.all([
    select<NotificationRow>(`${recordSql} ${mine.sql} ${pageSql(query, 'n')}`, values(adminId, mine)),
    select<{ total: number }>(`SELECT COUNT(*) AS total ${fromSql} ${mine.sql}`, values(adminId, mine)),
  ]);
  return toPage(query, rows.map(toRecord), count?.total ?? 0);
}

/** A notification as that administrator sees it. @throws notification_not_found also when it is another's */
export async function findNotification(adminId: number, id: number): Promise<NotificationRecord> {
  const mine = visibleTo(adminId).and('n.id = ?', id);
  const [row] = await select<NotificationRow>(`${recordSql} ${mine.sql}`, values(adminId, mine));
  return row ? toRecord(row) : fail('notification_not_found');
}

export async function countUnread(adminId: number): Promise<number> {
  const unread = visibleTo(adminId).and(`NOT ${readSql}`);
  const [row] = await select<{ total: number }>(
    `SELECT COUNT(*) AS total ${fromSql} ${unread.sql}`,
    values(adminId, unread),
  );
  return row?.total ?? 0;
}

/** Marks one as read; reading twice changes nothing. @throws notification_not_found also when it is another's */
export async function readNotification(adminId: number, id: number): Promise<void> {
  await findNotification(adminId, id);
  await change(
    'INSERT IGNORE INTO notification_reads (admin_id, notification_id, read_at) VALUES (?, ?, ?)',
    [adminId, id, now()],
  );
  await deliver({ adminId, frame: { type: 'read', data: { ids: [id] } } });
}

/** Marks everything up to now as read. */
export async function readAllNotifications(adminId: number): Promise<void> {
  await change(
    `INSERT INTO notification_marks (admin_id, read_until) VALUES (?, ?)
     ON DUPLICATE KEY UPDATE read_until = GREATEST(read_until, VALUES(read_until))`,
    [adminId, now()],
  );
  await deliver({ adminId, frame: { type: 'read_all' } });
}

interface NotificationRow extends Omit<NotificationRecord, 'is_read'> {
  is_read: number;
}

const fromSql = `FROM notifications n
  JOIN admins a ON a.id = ?
  LEFT JOIN notification_reads r ON r.notification_id = n.id AND r.admin_id = a.id
  LEFT JOIN notification_marks m ON m.admin_id = a.id`;

const readSql = '(r.read_at IS NOT NULL OR (m.read_until IS NOT NULL AND n.created_at <= m.read_until))';

const recordSql = `SELECT n.id, n.type, n.title, n.content, n.sender_id, n.receiver_id, ${readSql} AS is_read,
    COALESCE(r.read_at, IF(n.created_at <= m.read_until, m.read_until, NULL)) AS read_at, n.created_at ${fromSql}`;

// What was announced before an administrator came is not news to them.
function visibleTo(adminId: number): Where {
  return new Where().and(
    '(n.receiver_id = ? OR (n.receiver_id IS NULL AND n.created_at >= a.created_at))',
    adminId,
  );
}

function values(adminId: number, where: Where): SqlValue[] {
  return [adminId, ...where.values];
}

function toRecord(row: NotificationRow): NotificationRecord {
  return { ...row, is_read: row.is_read === 1 };
}

async function store(
  notification: NewNotification,
  receiverId: number | undefined,
  at: Date,
): Promise<number> {
  const { type, title, content, senderId, eventKey } = notification;
  const key = eventKey && (receiverId === undefined ? eventKey : `${eventKey}-${receiverId}`);
  return insert(
    `INSERT IGNORE INTO notifications (type, title, content, sender_id, receiver_id, event_key, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    [type, title, content, senderId ?? null, receiverId ?? null, key ?? null, at],
  );
}

async function receiversMustExist(ids: number[]): Promise<void> {
  const [row] = await select<{ found: number }>('SELECT COUNT(*) AS found FROM admins WHERE id IN (?)', [
    ids,
  ]);
  if (row?.found !== ids.length) fail('receiver_unknown', { field: 'receiver_ids' });
}
