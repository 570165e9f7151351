// Pushes stored notifications to the sockets of their receivers. The sweeper looks for no lost ones: the rows are what clients
// list, a frame only announces them sooner.
import Joi from 'joi';
import { logger } from '../lib/logger.js';
import { id } from '../lib/schema.js';
import {
  deliverNotifications,
  storeNotification,
  type NewNotification,
  type NotificationRecord,
} from '../models/office/notification.js';
import { job } from './job.js';

export interface DeliverNotification {
  ids: number[];
}

export const deliverNotification = job({
  name: 'deliver-notification',
  queue: 'notifications',
  attempts: 8,
  backoffMs: 500,
  timeoutMs: 30_000,
  payload: Joi.object<DeliverNotification, true>({ ids: Joi.array().items(id()).min(1).required() }),
  key: ({ ids }) => String(ids[0]),
  run: ({ ids }, signal) => deliverNotifications(ids, signal),
});

/**
 * Stores a notification on behalf of a request and has it delivered by a job, or at once when the queue is unavailable. What announces
 * of its own end in the background calls `notify`.
 *
 * @returns the records, one per named receiver; none when the event was notified before
 * @throws receiver_unknown
 */
export async function sendNotification(notification: NewNotification): Promise<NotificationRecord[]> {
  const made = await storeNotification(notification);
  if (made.length > 0) await deliverSoon(made.map(({ id }) => id));
  return made;
}

async function deliverSoon(ids: number[]): Promise<void> {
  try {
    await deliverNotification.enqueue({ ids }).catch(() => deliverNotifications(ids));
  } catch (error) {
    logger.warn({ error }, 'notifications could not be delivered; their rows remain');
  }
}
