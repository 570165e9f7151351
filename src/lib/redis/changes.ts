// Notifies open pages of the lists that have changed. A hint without a promise: without Redis nothing is sent.
import { publish } from './pubsub.js';

/** Channel of the names of changed lists, an array. */
export const changesChannel = 'changes';

/** Lists that open pages reload. */
type ListName =
  | 'blacklist'
  | 'dictionaries'
  | 'identity'
  | 'login_logs'
  | 'operation_logs'
  | 'orders'
  | 'payments'
  | 'refunds'
  | 'system_logs'
  | 'user_balance_logs'
  | 'users';

/** Notifies open pages, after a write, that these lists have changed. Never fails and delays nothing. */
export function announce(lists: readonly ListName[]): void {
  publish(changesChannel, lists).catch(() => undefined);
}
