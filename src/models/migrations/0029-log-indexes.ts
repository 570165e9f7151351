// Indexes of the log lists: those of lists end with the id, and what was done to a record is found by its key or its path.
import { keyMigration } from './migration.js';

export const logIndexes = keyMigration('0029-log-indexes', [
  {
    table: 'operation_logs',
    before: {
      ix_operation_logs_created: '(created_at)',
      ix_operation_logs_admin: '(admin_id)',
    },
    after: {
      ix_operation_logs_made: '(created_at, id)',
      ix_operation_logs_of_admin: '(admin_id, id)',
      ix_operation_logs_record: '(record_key)',
      ix_operation_logs_path: '(path(100))',
    },
  },
  {
    table: 'login_logs',
    before: {
      ix_login_logs_created: '(created_at, status)',
      ix_login_logs_admin: '(admin_id)',
    },
    after: {
      ix_login_logs_made: '(created_at, id)',
      ix_login_logs_of_admin: '(admin_id, id)',
    },
  },
  {
    table: 'system_logs',
    before: { ix_system_logs_created: '(created_at)' },
    after: { ix_system_logs_made: '(created_at, id)' },
  },
]);
