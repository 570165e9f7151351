// How old notifications leave: with who has read them, in batches, so that unread counts and totals stay exact.
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
  // Locked, so that nobody reads one (notification-inbox.ts) while it goes.
  const rows = await bulk.select<{ id: number }>(
    `SELECT id FROM notifications WHERE created_at < ? AND (event_key IS NULL OR event_key NOT LIKE 'attention-%')
     ORDER BY created_at LIMIT ${batchSize} FOR UPDATE`,
    [before],
    t,
  );
  if (rows.length === 0) return 0;
  const ids = rows.map(({ id }) => id);
  await bulk.change(
    `UPDATE notification_marks m JOIN (
         SELECT r.admin_id, COUNT(*) AS gone FROM notification_reads r
           JOIN notifications n ON n.id = r.notification_id
           JOIN notification_marks own ON own.admin_id = r.admin_id AND own.read_until < n.created_at
         WHERE r.notification_id IN (?) GROUP BY r.admin_id
       ) old ON old.admin_id = m.admin_id
     SET m.read_above = m.read_above - old.gone`,
    [ids],
    t,
  );
  await NotificationRead.destroy({ where: { notification_id: ids }, transaction: t });
  await Notification.destroy({ where: { id: ids }, transaction: t });
  return ids.length;
}
