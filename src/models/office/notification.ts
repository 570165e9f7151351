// notifications: messages to administrators, and the outbox of their frames. One for everybody is one row; reads are
// stored per administrator (notification-inbox.ts).
import { Op, type Transaction } from 'sequelize';
import { config } from '../../../config/index.js';
import { ago, now } from '../../lib/values/clock.js';
import { afterCommit, bulk, change, insert, select, transact } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import { inBoth, type Text } from '../../lib/values/language.js';
import { logger } from '../../lib/watch/logger.js';
import { publish } from '../../lib/redis/pubsub.js';
import { newUlid } from '../../lib/secrets/random-id.js';
import { listed, type Listed } from '../tables/table.js';
import { Notification, NotificationRead, type NotificationType } from './tables.js';

/** A notification as an administrator sees it. */
export interface NotificationRecord extends Listed<Notification> {
  is_read: boolean;
  read_at: Date | null;
}

export interface NewNotification {
  type: NotificationType;
  /** A text in both languages is stored in both: its readers may have either. */
  title: string | Text;
  content: string | Text;
  senderId?: number;
  /** Nobody named: every administrator. */
  receiverIds?: number[];
  /** The one that a request named by itself, as `receiver_id`. */
  receiverId?: number;
  /** Identifies the event; a second notification of the same event is not stored. */
  eventKey?: string;
}

/** A frame for the sockets of one administrator (undefined: everybody). */
export interface Delivery {
  adminId?: number;
  frame: { type: string; data?: unknown };
}

const deliveredAtOnce = 100;

/** Name of the channel that every API process delivers from. */
export const deliveryChannel = 'deliveries';

/** Sends a frame to the sockets of an administrator, or of everybody, on every API process. Losing it loses no data. */
export async function deliver(delivery: Delivery): Promise<void> {
  await publish(deliveryChannel, delivery).catch((error: unknown) =>
    logger.warn({ error }, 'sending a frame failed; its row remains'),
  );
}

/**
 * Stores a notification on behalf of a sender: for everybody as one row, for named receivers as one row each, all of them or
 * none. It is undelivered until `deliverNotifications` has sent its frames.
 *
 * @returns the records in the order of the receivers; none when the event was notified before
 * @throws receiver_unknown
 */
export function storeNotification(wanted: NewNotification): Promise<NotificationRecord[]> {
  const notification = written(wanted);
  const { type, title, content, sender_id, created_at, receiverIds } = notification;
  const sent = { type, title, content, sender_id, created_at, is_read: false, read_at: null };
  const fieldOf = (id: number | null): string => (id === wanted.receiverId ? 'receiver_id' : 'receiver_ids');
  return transact(async (t) => {
    const { rows, isNew } = await insertRows(notification, t);
    const byReceiver = new Map(rows.map((row) => [row.receiver_id, row]));
    const ordered = (receiverIds ?? [null]).map(
      (id) => byReceiver.get(id) ?? fail('receiver_unknown', { field: fieldOf(id) }),
    );
    return isNew ? ordered.map(({ id, receiver_id }) => ({ id, receiver_id, ...sent })) : [];
  });
}

/**
 * Stores a notification in the transaction of the event it reports, so that neither is there without the other, and
 * delivers it after the commit. An event is notified once; a receiver who no longer exists is left out.
 */
export async function notifyWithin(t: Transaction, wanted: NewNotification): Promise<void> {
  const { rows, isNew } = await insertRows(written(wanted), t);
  if (isNew) afterCommit(t, () => deliverStored(rows.map(({ id }) => id)));
}

/** Frees the keys of events that are over, so that the next of the kind is notified again. */
export async function freeEventKeys(keys: readonly string[], t: Transaction): Promise<void> {
  await change('UPDATE notifications SET event_key = NULL WHERE event_key IN (:keys)', { keys }, t);
}

/**
 * Sends the frames of stored notifications that were not delivered. Those at hand when a run is cut short, 100 at most, are
 * sent again, with the same ids.
 *
 * @throws when Redis is unavailable
 */
export async function deliverNotifications(ids: readonly number[], signal?: AbortSignal): Promise<void> {
  for (let start = 0; start < ids.length; start += deliveredAtOnce) {
    signal?.throwIfAborted();
    const id = ids.slice(start, start + deliveredAtOnce);
    const rows = await unreadOf(id);
    await Promise.all(rows.map((row) => publish(deliveryChannel, deliveryOf(row))));
    await Notification.update({ undelivered_since: null }, { where: { id } });
  }
}

/** Delivers what has just been committed. Never throws: the sweeper retries. */
export async function deliverStored(ids: readonly number[]): Promise<void> {
  await deliverNotifications(ids).catch((error: unknown) =>
    logger.warn({ error }, 'delivering notifications failed; the sweeper will retry'),
  );
}

/** Notifications stored before that instant whose frames were not sent, the oldest 500 at most. */
export async function undeliveredNotifications(before: Date): Promise<number[]> {
  const rows = await Notification.findAll({
    attributes: ['id'],
    where: { undelivered_since: { [Op.lt]: before } },
    order: ['undelivered_since'],
    limit: 500,
  });
  return rows.map(({ id }) => id);
}

type Written = ReturnType<typeof written>;

function written({ title, content, senderId, ...wanted }: NewNotification) {
  const texts = { title: inLanguages(title), content: inLanguages(content) };
  return { ...wanted, ...texts, sender_id: senderId ?? null, created_at: now() };
}

const inLanguages = (text: string | Text): string => (typeof text === 'string' ? text : inBoth(text));

interface Inserted {
  rows: Pick<Notification, 'id' | 'receiver_id'>[];
  /** False when the event was notified before. */
  isNew: boolean;
}

async function insertRows(notification: Written, t: Transaction): Promise<Inserted> {
  const { type, title, content, sender_id, created_at, receiverIds, eventKey } = notification;
  const row = { type, title, content, sender_id, created_at };
  if (receiverIds) return insertForEach({ ...row, receiverIds, eventKey }, t);
  const id = await insert(
    `INSERT IGNORE INTO notifications (type, title, content, sender_id, event_key, created_at, undelivered_since)
     VALUES (:type, :title, :content, :sender_id, :event_key, :created_at, :created_at)`,
    { ...row, event_key: eventKey ?? null },
    t,
  );
  return { rows: [{ id, receiver_id: null }], isNew: id > 0 };
}

type ForEach = Pick<Written, 'type' | 'title' | 'content' | 'sender_id' | 'created_at' | 'eventKey'> & {
  receiverIds: number[];
};

// The text is sent once, however many receivers there are. Their rows are found again by key, because not every server
// numbers the rows of one statement without gaps.
async function insertForEach(notification: ForEach, t: Transaction): Promise<Inserted> {
  const { receiverIds, eventKey = `sent-${newUlid()}`, ...row } = notification;
  const made = await change(
    `INSERT IGNORE INTO notifications
       (type, title, content, sender_id, receiver_id, event_key, created_at, undelivered_since)
     SELECT :type, :title, :content, :sender_id, a.id, CONCAT(:eventKey, '-', a.id), :created_at, :created_at
     FROM admins a WHERE a.id IN (:receiverIds)`,
    { ...row, eventKey, receiverIds },
    t,
  );
  const event_key = receiverIds.map((id) => `${eventKey}-${id}`);
  const rows = await Notification.findAll({
    attributes: ['id', 'receiver_id'],
    where: { event_key },
    transaction: t,
  });
  return { rows, isNew: made > 0 };
}

/** A notification as its sender got it answered, with the ids of those that were sent together with it. */
export async function getSentNotification(id: number): Promise<NotificationRecord & { ids: number[] }> {
  const first = (await Notification.findByPk(id)) ?? fail('notification_not_found');
  const { event_key, receiver_id } = first;
  const together =
    receiver_id === null || event_key === null
      ? []
      : await Notification.findAll({
          attributes: ['id'],
          where: { event_key: { [Op.startsWith]: event_key.slice(0, -String(receiver_id).length) } },
          order: ['id'],
        });
  const ids = together.length > 0 ? together.map((one) => one.id) : [id];
  return { ...listed(first), is_read: false, read_at: null, ids };
}

// What was delivered by an earlier run, or read before it was delivered, needs no frame.
function unreadOf(ids: readonly number[]): Promise<DeliveredRow[]> {
  return select<DeliveredRow>(
    `SELECT n.id, n.type, n.title, n.content, n.receiver_id, n.created_at FROM notifications n
       LEFT JOIN notification_reads r ON r.notification_id = n.id AND r.admin_id = n.receiver_id
       LEFT JOIN notification_marks m ON m.admin_id = n.receiver_id
     WHERE n.id IN (:ids) AND n.undelivered_since IS NOT NULL
       AND r.read_at IS NULL AND (m.read_until IS NULL OR n.created_at > m.read_until) ORDER BY n.id`,
    { ids },
  );
}

type DeliveredRow = Omit<Listed<Notification>, 'sender_id'>;

function deliveryOf({ id, type, title, content, receiver_id, created_at }: DeliveredRow): Delivery {
  const data = { id, title, content, created_at, type, is_read: false };
  return { adminId: receiver_id ?? undefined, frame: { type: 'notification', data } };
}

const removedAtOnce = 1000;

/** Deletes notifications older than NOTIFICATION_RETENTION_DAYS, with who has read them. @returns how many there were */
export async function pruneNotifications(): Promise<number> {
  const before = ago(config.retention.notificationMs);
  let removed = 0;
  for (;;) {
    const batch = await bulk.transact((t) => removeBatch(before, t));
    removed += batch;
    if (batch < removedAtOnce) return removed;
  }
}

async function removeBatch(before: Date, t: Transaction): Promise<number> {
  // Those of payments that still need attention stay: they record the reasons (payment-attention.ts).
  const rows = await bulk.select<{ id: number }>(
    `SELECT id FROM notifications WHERE created_at < ? AND (event_key IS NULL OR event_key NOT LIKE 'attention-%')
     ORDER BY created_at LIMIT ${removedAtOnce}`,
    [before],
    t,
  );
  const ids = rows.map(({ id }) => id);
  await NotificationRead.destroy({ where: { notification_id: ids }, transaction: t });
  return Notification.destroy({ where: { id: ids }, transaction: t });
}
