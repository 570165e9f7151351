// How old notifications leave: with who has read them, in batches.
import type { Transaction } from 'sequelize';
import { config } from '../../../config/index.js';
import { now } from '../../lib/values/clock.js';
import { bulk } from '../../lib/database/db.js';
import { Notification, NotificationRead } from './tables.js';

const batchSize = 1000;

/** Deletes notifications older than NOTIFICATION_RETENTION_DAYS. @returns how many there were */
export async function pruneNotifications(): Promise<number> {
  const before = new Date(now().getTime() - config.retention.notificationMs);
  let removed = 0;
  for (;;) {
    const batch = await bulk.transact((t) => removeBatch(before, t));
    removed += batch;
    if (batch < batchSize) return removed;
  }
}

async function removeBatch(before: Date, t: Transaction): Promise<number> {
  // A payment that still needs attention (payment-attention.ts) knows by them for which reasons.
  const rows = await bulk.select<{ id: number }>(
    `SELECT id FROM notifications WHERE created_at < ? AND (event_key IS NULL OR event_key NOT LIKE 'attention-%')
     ORDER BY created_at LIMIT ${batchSize}`,
    [before],
    t,
  );
  const ids = rows.map(({ id }) => id);
  await NotificationRead.destroy({ where: { notification_id: ids }, transaction: t });
  return Notification.destroy({ where: { id: ids }, transaction: t });
}
