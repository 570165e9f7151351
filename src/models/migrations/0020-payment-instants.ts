// The states of a payment have instants of their own, who clears attention stays on record, and a refused amount is a number.
import { passDone, type Migration } from './migration.js';

const ascii = 'CHARACTER SET ascii COLLATE ascii_bin';

export const paymentInstants: Migration = {
  name: '0020-payment-instants',
  async up(run) {
    // Payments closed before have none: their last change may be another one.
    await run('ALTER TABLE payments ADD COLUMN closed_at DATETIME(3) NULL').catch(passDone);
    await run('ALTER TABLE payment_callbacks ADD COLUMN reported_amount DECIMAL(18,2) NULL').catch(passDone);
    await run(`CREATE TABLE IF NOT EXISTS payment_handlings (
      id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
      payment_no CHAR(37) ${ascii} NOT NULL,
      reason VARCHAR(255) NOT NULL,
      remark VARCHAR(500) NULL,
      admin_id BIGINT UNSIGNED NOT NULL,
      username VARCHAR(50) NOT NULL,
      created_at DATETIME(3) NOT NULL,
      KEY ix_payment_handlings_no (payment_no)
    )`);
  },
  async down(run) {
    await run('DROP TABLE IF EXISTS payment_handlings');
    await run('ALTER TABLE payment_callbacks DROP COLUMN reported_amount').catch(passDone);
    await run('ALTER TABLE payments DROP COLUMN closed_at').catch(passDone);
  },
};
