// Who handles a payment that needs attention.
import { passDone, type Migration } from './migration.js';

export const paymentAssignee: Migration = {
  name: '0025-payment-assignee',
  up: (run) => run('ALTER TABLE payments ADD COLUMN assignee_id BIGINT UNSIGNED NULL').catch(passDone),
  down: (run) => run('ALTER TABLE payments DROP COLUMN assignee_id').catch(passDone),
};
