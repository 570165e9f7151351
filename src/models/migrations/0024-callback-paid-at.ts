// When money arrived by the clock of the payment company, where its callback says so.
import { passDone, type Migration } from './migration.js';

export const callbackPaidAt: Migration = {
  name: '0024-callback-paid-at',
  up: (run) => run('ALTER TABLE payment_callbacks ADD COLUMN paid_at DATETIME(3) NULL').catch(passDone),
  down: (run) => run('ALTER TABLE payment_callbacks DROP COLUMN paid_at').catch(passDone),
};
