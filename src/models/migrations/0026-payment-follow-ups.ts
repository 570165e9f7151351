// Placed payments that their company is asked about, and how an attempt came.
import { passDone, type Migration } from './migration.js';

export const paymentFollowUps: Migration = {
  name: '0026-payment-follow-ups',
  async up(run) {
    await run(`CREATE TABLE IF NOT EXISTS payment_follow_ups (
      payment_no CHAR(37) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      period INT UNSIGNED NOT NULL,
      type VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
      expire_at DATETIME(3) NOT NULL,
      until_at DATETIME(3) NOT NULL,
      due_at DATETIME(3) NOT NULL,
      asked INT UNSIGNED NOT NULL DEFAULT 0,
      last_asked_at DATETIME(3) NULL,
      last_answer VARCHAR(50) NULL,
      closing_at DATETIME(3) NULL,
      holds_order TINYINT NOT NULL DEFAULT 1,
      created_at DATETIME(3) NOT NULL,
      PRIMARY KEY (payment_no),
      KEY ix_payment_follow_ups_due (due_at)
    )`);
    await run(
      `ALTER TABLE payment_callbacks ADD COLUMN source VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL
         DEFAULT 'callback'`,
    ).catch(passDone);
  },
  async down(run) {
    await run('DROP TABLE IF EXISTS payment_follow_ups');
    await run('ALTER TABLE payment_callbacks DROP COLUMN source').catch(passDone);
  },
};
