// Money of payments on its way back, and what of each payment is promised and given back.
import { partitionClause } from '../tables/partitions.js';
import { passDone, type Migration } from './migration.js';

const ascii = 'CHARACTER SET ascii COLLATE ascii_bin';

const table = () => `CREATE TABLE IF NOT EXISTS refunds (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    period INT UNSIGNED NOT NULL,
    refund_no CHAR(37) ${ascii} NOT NULL,
    payment_no CHAR(37) ${ascii} NOT NULL,
    order_no CHAR(35) ${ascii} NOT NULL,
    user_id BIGINT UNSIGNED NOT NULL,
    payment_method_id BIGINT UNSIGNED NOT NULL,
    amount DECIMAL(18,2) NOT NULL,
    destination VARCHAR(10) ${ascii} NOT NULL,
    status VARCHAR(20) ${ascii} NOT NULL,
    reason VARCHAR(80) NOT NULL,
    channel_refund_no VARCHAR(64) ${ascii} NULL,
    code VARCHAR(50) NULL,
    is_refused TINYINT NOT NULL DEFAULT 0,
    needs_attention TINYINT NOT NULL DEFAULT 0,
    fail_reason VARCHAR(255) NULL,
    requested_by BIGINT UNSIGNED NOT NULL,
    approved_by BIGINT UNSIGNED NULL,
    sent_at DATETIME(3) NULL,
    accepted_at DATETIME(3) NULL,
    finished_at DATETIME(3) NULL,
    due_at DATETIME(3) NULL,
    tries INT UNSIGNED NOT NULL DEFAULT 0,
    created_at DATETIME(3) NOT NULL,
    updated_at DATETIME(3) NOT NULL,
    PRIMARY KEY (id, period),
    UNIQUE KEY uq_refunds_no (refund_no, period),
    KEY ix_refunds_payment (payment_no),
    KEY ix_refunds_order (order_no),
    KEY ix_refunds_user (user_id, id),
    KEY ix_refunds_due (status, due_at),
    KEY ix_refunds_state (status, id),
    KEY ix_refunds_flagged (needs_attention, id),
    KEY ix_refunds_made (created_at, id)
  ) ${partitionClause()}`;

const columns = ['refund_reserved', 'refunded_amount'];

export const refunds: Migration = {
  name: '0027-refunds',
  async up(run) {
    await run(table());
    for (const column of columns)
      await run(`ALTER TABLE payments ADD COLUMN ${column} DECIMAL(18,2) NOT NULL DEFAULT 0`).catch(passDone);
  },
  async down(run) {
    for (const column of columns) await run(`ALTER TABLE payments DROP COLUMN ${column}`).catch(passDone);
    await run('DROP TABLE IF EXISTS refunds');
  },
};
