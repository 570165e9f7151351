// Tells open pages which lists have changed. A hint without a promise: without Redis nothing is sent.
import { publish } from './pubsub.js';

/** Channel of the names of changed lists, an array. */
export const changesChannel = 'changes';

/** Lists that open pages reload. */
export type ListName =
  | 'blacklist'
  | 'dictionaries'
  | 'identity'
  | 'login_logs'
  | 'notifications'
  | 'operation_logs'
  | 'orders'
  | 'payments'
  | 'refunds'
  | 'system_logs'
  | 'user_balance_logs'
  | 'users';

/** Tells open pages that these lists have changed. */
export function announce(lists: readonly ListName[]): void {
  publish(changesChannel, lists).catch(() => undefined);
}

/** Runs a write and notifies open pages, also when it fails: its COMMIT may have succeeded. */
export async function announcing<T>(lists: readonly ListName[], write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } finally {
    announce(lists);
  }
}
