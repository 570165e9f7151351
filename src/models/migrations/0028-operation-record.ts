// The record an operation was about: a path names no record that it made.
import { passDone, type Migration } from './migration.js';

export const operationRecord: Migration = {
  name: '0028-operation-record',
  up: (run) =>
    run(
      'ALTER TABLE operation_logs ADD COLUMN record_key VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL',
    ).catch(passDone),
  down: (run) => run('ALTER TABLE operation_logs DROP COLUMN record_key').catch(passDone),
};
