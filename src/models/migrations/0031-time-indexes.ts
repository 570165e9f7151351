// Indexes of what is read or deleted by its time, and of the payments of an assignee: without them each read a whole table.
import { keyMigration } from './migration.js';

export const timeIndexes = keyMigration('0031-time-indexes', [
  {
    table: 'admin_sessions',
    before: {},
    after: { ix_admin_sessions_expiry: '(expires_at)' },
  },
  {
    table: 'refunds',
    before: {},
    after: { ix_refunds_finished: '(finished_at, id)' },
  },
  {
    table: 'payments',
    before: {},
    after: { ix_payments_assigned: '(assignee_id, id)' },
  },
]);
