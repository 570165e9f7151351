// The dashboard adds up what was paid in a time from an index alone: looking up each order took seconds at a million a
// month.
import { keyMigration } from './migration.js';

export const salesIndex = keyMigration('0032-sales-index', [
  {
    table: 'orders',
    before: { ix_orders_paid_at: '(paid_at, id)' },
    after: { ix_orders_sold: '(paid_at, id, status, amount)' },
  },
]);
