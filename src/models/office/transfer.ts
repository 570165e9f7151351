// What exports and imports share: their progress, and their end with the notification of their owner.
import { Op, type ModelStatic, type Transaction, type WhereOptions } from 'sequelize';
import type { Model } from 'sequelize-typescript';
import { transact } from '../../lib/database/db.js';
import { now } from '../../lib/values/clock.js';
import { deliver, notifyWithin, type NewNotification } from './notification.js';
import { Notification } from './tables.js';

/** A row of an export or an import. */
interface Transfer extends Model {
  id: number;
  admin_id: number;
  /** 0 waiting or running, 1 success, 2 failed. */
  status: 0 | 1 | 2;
  /** Percent. */
  progress: number;
}

type TransferKind = 'export' | 'import';

/** Sends how far it is to the sockets of its owner. */
export const deliverProgress = (
  kind: TransferKind,
  { id, admin_id, status, progress }: Pick<Transfer, 'id' | 'admin_id' | 'status' | 'progress'>,
): Promise<void> => deliver({ adminId: admin_id, frame: { type: kind, data: { id, status, progress } } });

/**
 * Ends a transfer and notifies its owner, in one transaction.
 *
 * @param end changes the row and returns it; undefined when it has ended before or belongs to another run
 * @returns that row
 */
export async function endTransfer<T extends Transfer>(
  kind: TransferKind,
  end: (t: Transaction) => Promise<T | undefined>,
  noticeOf: (ended: T) => NewNotification,
): Promise<T | undefined> {
  const ended = await transact(async (t) => {
    const row = await end(t);
    if (row) await notifyWithin(t, noticeOf(row));
    return row;
  });
  if (ended) await deliverProgress(kind, ended);
  return ended;
}

/**
 * Reopens a transfer that failed after its last run, until it expires.
 *
 * @param more what else its row becomes
 * @returns false when it has ended otherwise or was removed
 */
export async function reopenTransfer<T extends Transfer>(
  kind: TransferKind,
  model: ModelStatic<T>,
  id: number,
  more: object,
): Promise<boolean> {
  await transact(async (t) => {
    const open = { ...more, status: 0, error: null, finished_at: null, expires_at: null };
    const where = { id, status: 2, error: `${kind}_failed`, expires_at: { [Op.gt]: now() } };
    const [reopened] = await model.update<Transfer>(open, { where, transaction: t });
    if (reopened === 0) return;
    // Its next end is another event.
    const events = { event_key: { [Op.startsWith]: `${kind}-${id}-` } };
    await Notification.update({ event_key: null }, { where: events, transaction: t });
  });
  return (await model.count<Transfer>({ where: { id, status: 0 } })) > 0;
}

/** The ids of running transfers not updated since that instant, 500 at most; their jobs were probably lost. */
export async function stalledTransfers<T extends Transfer>(
  model: ModelStatic<T>,
  running: WhereOptions<T>,
  before: Date,
): Promise<number[]> {
  const where = { ...running, updated_at: { [Op.lt]: before } } as WhereOptions<T>;
  const rows = await model.findAll({ attributes: ['id'], where, order: ['id'], limit: 500 });
  return rows.map(({ id }) => id);
}
