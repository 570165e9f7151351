// Balance changes are counted where their rows are: `period` has no index, and a row needs none. The release before still
// writes the column, so it goes with the next one.
import { passDone, type Migration } from './migration.js';

export const plainBalanceLogs: Migration = {
  name: '0030-plain-balance-logs',
  up: (run) =>
    run(
      'ALTER TABLE user_balance_logs DROP KEY ix_user_balance_logs_period, ALTER COLUMN period SET DEFAULT 0',
    ).catch(passDone),
  down: (run) =>
    run(
      'ALTER TABLE user_balance_logs ADD KEY ix_user_balance_logs_period (period), ALTER COLUMN period DROP DEFAULT',
    ).catch(passDone),
};
