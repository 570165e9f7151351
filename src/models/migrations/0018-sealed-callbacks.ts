// Stores refused callbacks in full, sealed: their signature can be verified again once the configuration is right.
import { passDone, type Migration } from './migration.js';

export const sealedCallbacks: Migration = {
  name: '0018-sealed-callbacks',
  up: (run) => run('ALTER TABLE payment_callbacks ADD COLUMN sealed TEXT NULL').catch(passDone),
  down: (run) => run('ALTER TABLE payment_callbacks DROP COLUMN sealed').catch(passDone),
};
