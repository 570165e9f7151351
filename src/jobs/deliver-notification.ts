// Sends the frames of stored notifications to the sockets of their receivers.
import Joi from 'joi';
import { id } from '../lib/input/schema.js';
import {
  deliverNotifications,
  deliverStored,
  storeNotification,
  type NewNotification,
  type NotificationRecord,
} from '../models/office/notification.js';
import { job } from './job.js';

export const deliverNotification = job({
  name: 'deliver-notification',
  queue: 'notifications',
  attempts: 8,
  backoffMs: 500,
  timeoutMs: 30_000,
  payload: Joi.object<{ ids: number[] }, true>({ ids: Joi.array().items(id()).min(1).required() }),
  key: ({ ids }) => String(ids[0]),
  run: ({ ids }, signal) => deliverNotifications(ids, signal),
});

/**
 * Stores a notification on behalf of a request and has it delivered by a job, or at once when the queue takes
 * none. Background work calls `notifyWithin`.
 *
 * @returns the records, one per named receiver; none when the event was notified before
 * @throws receiver_unknown
 */
export async function sendNotification(notification: NewNotification): Promise<NotificationRecord[]> {
  const made = await storeNotification(notification);
  const ids = made.map(({ id }) => id);
  if (ids.length > 0) await deliverNotification.enqueue({ ids }).catch(() => deliverStored(ids));
  return made;
}
