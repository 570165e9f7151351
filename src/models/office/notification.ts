// notifications: messages to administrators, stored and delivered. One for everybody is stored once; who has read it is kept
// per administrator (notification-inbox.ts).
import { now } from '../../lib/clock.js';
import { change, transact } from '../../lib/db.js';
import { fail } from '../../lib/errors.js';
import { inBoth, type Text } from '../../lib/language.js';
import type { ListQuery } from '../../lib/list-query.js';
import { logger } from '../../lib/logger.js';
import { publish } from '../../lib/pubsub.js';
import { newUlid } from '../../lib/random-id.js';
import { columnsOf, selection } from '../tables/selection.js';
import { insertMissing } from '../tables/rows.js';
import { listed, type Listed } from '../tables/table.js';
import { Notification, type NotificationType } from './tables.js';

/** A notification as an administrator sees it. */
export interface NotificationRecord extends Listed<Notification> {
  is_read: boolean;
  read_at: Date | null;
}

export interface NotificationFilter extends ListQuery {
  type?: NotificationType;
  is_read?: boolean;
}

export interface NewNotification {
  type: NotificationType;
  /** Of one in both languages both are stored: its readers may have either. */
  title: string | Text;
  content: string | Text;
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

const deliveredAtOnce = 100;

/** Name of the channel that every API process delivers from. */
export const deliveryChannel = 'deliveries';

/** Hands a frame to the sockets of an administrator, or of everybody, on every API process. Missing it loses nothing. */
export async function deliver(delivery: Delivery): Promise<void> {
  await publish(deliveryChannel, delivery).catch((error: unknown) =>
    logger.warn({ error }, 'a frame could not be delivered; its row remains'),
  );
}

/**
 * Stores a notification: for everybody as one row, for named receivers as one row each, all of them or none.
 *
 * @returns the records in the order of the receivers; none when the event was told before
 * @throws receiver_unknown
 */
export async function storeNotification(wanted: NewNotification): Promise<NotificationRecord[]> {
  const notification = { ...wanted, title: written(wanted.title), content: written(wanted.content) };
  const { type, title, content, senderId: sender_id = null, receiverIds } = notification;
  const created_at = now();
  const rows = receiverIds
    ? await storeForEach(notification, receiverIds, created_at)
    : await storeForAll(notification, created_at);
  return rows.map(({ id, receiver_id }) => ({
    id,
    type,
    title,
    content,
    sender_id,
    receiver_id,
    is_read: false,
    read_at: null,
    created_at,
  }));
}

/**
 * Delivers stored notifications. A second time their frames come twice, with the same ids.
 *
 * @throws when Redis is unavailable
 */
export async function deliverNotifications(ids: readonly number[], signal?: AbortSignal): Promise<void> {
  for (let start = 0; start < ids.length; start += deliveredAtOnce) {
    signal?.throwIfAborted();
    const rows = await unreadOf(ids.slice(start, start + deliveredAtOnce));
    await Promise.all(rows.map((row) => publish(deliveryChannel, deliveryOf(row))));
  }
}

/**
 * Stores a notification and delivers it at once: for work in the background, which tells of its own end to one administrator
 * or to everybody. Requests leave the delivery to a job (jobs/deliver-notification.ts).
 *
 * @throws receiver_unknown
 */
export async function notify(notification: NewNotification): Promise<void> {
  for (const record of await storeNotification(notification)) await deliver(deliveryOf(record));
}

type StoredRow = Pick<NotificationRecord, 'id' | 'receiver_id'>;

const sent = selection(columnsOf(Notification, 'n', 'id', 'receiver_id', 'event_key'), 'notifications n');

async function storeForAll(notification: Written, at: Date): Promise<StoredRow[]> {
  const { type, title, content, senderId, eventKey } = notification;
  const sender_id = senderId ?? null;
  const row = { type, title, content, sender_id, receiver_id: null, event_key: eventKey ?? null };
  const id = await insertMissing(Notification, { ...row, created_at: at });
  return id === 0 ? [] : [{ id, receiver_id: null }];
}

// The text is sent once, however many receivers there are. Their rows are found again by key, because not every server
// numbers the rows of one statement without gaps.
type Written = NewNotification & { title: string; content: string };

const written = (text: string | Text): string => (typeof text === 'string' ? text : inBoth(text));

function storeForEach(notification: Written, receiverIds: readonly number[], at: Date): Promise<StoredRow[]> {
  const { type, title, content, senderId, eventKey = `sent-${newUlid()}` } = notification;
  return transact(async (t) => {
    const made = await change(
      `INSERT IGNORE INTO notifications (type, title, content, sender_id, receiver_id, event_key, created_at)
       SELECT ?, ?, ?, ?, a.id, CONCAT(?, '-', a.id), ? FROM admins a WHERE a.id IN (?)`,
      [type, title, content, senderId ?? null, eventKey, at, receiverIds],
      t,
    );
    const keys = receiverIds.map((id) => `${eventKey}-${id}`);
    const rows = await sent.rows('WHERE n.event_key IN (?)', [keys], { t });
    const byKey = new Map(rows.map((row) => [row.event_key, row]));
    const found = receiverIds.map(
      (id) => byKey.get(`${eventKey}-${id}`) ?? fail('receiver_unknown', { field: 'receiver_ids' }),
    );
    return made === 0 ? [] : found;
  });
}

/** A notification as its sender got it answered, with the ids of those that were sent together with it. */
export async function findSent(id: number): Promise<NotificationRecord & { ids: number[] }> {
  const first = (await Notification.findByPk(id)) ?? fail('notification_not_found');
  const { event_key, receiver_id } = first;
  const together =
    receiver_id === null || event_key === null
      ? []
      : await sent.rows('WHERE n.event_key LIKE ? ORDER BY n.id', [
          `${event_key.slice(0, -String(receiver_id).length)}%`,
        ]);
  const ids = together.length > 0 ? together.map((one) => one.id) : [id];
  return { ...listed(first), is_read: false, read_at: null, ids };
}

// One that was read before it was delivered is news no more.
function unreadOf(ids: readonly number[]): Promise<DeliveredRow[]> {
  return undelivered.rows(
    `WHERE n.id IN (?) AND r.read_at IS NULL AND (m.read_until IS NULL OR n.created_at > m.read_until) ORDER BY n.id`,
    [ids],
  );
}

type DeliveredRow = Omit<Listed<Notification>, 'sender_id'>;

const undelivered = selection(
  columnsOf(Notification, 'n'),
  'notifications n',
  `LEFT JOIN notification_reads r ON r.notification_id = n.id AND r.admin_id = n.receiver_id
   LEFT JOIN notification_marks m ON m.admin_id = n.receiver_id`,
);

function deliveryOf({ id, type, title, content, receiver_id, created_at }: DeliveredRow): Delivery {
  const data = { id, title, content, created_at, type, is_read: false };
  return { adminId: receiver_id ?? undefined, frame: { type: 'notification', data } };
}
