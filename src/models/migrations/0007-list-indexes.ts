// Indexes of the order and payment lists. Each ends with the id, so that it gives filtered keys in the order of a list; with
// deleted_at in it, keys are counted and paged through without reading a row.
import { keyMigration } from './migration.js';

export const listIndexes = keyMigration('0007-list-indexes', [
  {
    table: 'orders',
    before: {
      ix_orders_user: '(user_id)',
      ix_orders_status: '(status, deleted_at, expire_at)',
      ix_orders_created: '(created_at)',
      ix_orders_paid: '(paid_at)',
    },
    after: {
      ix_orders_of_user: '(user_id, deleted_at, id)',
      ix_orders_state: '(status, deleted_at, id)',
      ix_orders_expiry: '(status, expire_at)',
      ix_orders_made: '(created_at, deleted_at, id)',
      ix_orders_paid_at: '(paid_at, id)',
      ix_orders_amount: '(amount, deleted_at, id)',
    },
  },
  {
    table: 'payments',
    before: {
      ix_payments_user: '(user_id)',
      ix_payments_method: '(payment_method_id)',
      ix_payments_status: '(status)',
      ix_payments_attention: '(needs_attention)',
      ix_payments_pay_time: '(pay_time)',
      ix_payments_created: '(created_at)',
    },
    after: {
      ix_payments_of_user: '(user_id, id)',
      ix_payments_by_method: '(payment_method_id, id)',
      ix_payments_state: '(status, id)',
      ix_payments_waiting: '(status, created_at, id)',
      ix_payments_flagged: '(needs_attention, id)',
      ix_payments_paid_at: '(pay_time, id)',
      ix_payments_made: '(created_at, id)',
    },
  },
]);
