// Users, their orders, payments and everything a payment callback leaves behind.
import { partitionClause } from '../tables/partitions.js';
import type { Migration } from './migration.js';

const times = `created_at DATETIME(3) NOT NULL, updated_at DATETIME(3) NOT NULL`;
const number = `CHARACTER SET ascii COLLATE ascii_bin`;

const tables = () => [
  `CREATE TABLE IF NOT EXISTS users (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    username VARCHAR(50) NOT NULL,
    password_hash VARCHAR(100) NULL,
    nickname VARCHAR(50) NOT NULL DEFAULT '',
    avatar VARCHAR(500) NULL,
    email VARCHAR(100) NULL,
    phone VARCHAR(30) NULL,
    balance DECIMAL(18,2) NOT NULL DEFAULT 0,
    status TINYINT NOT NULL DEFAULT 1,
    last_login_at DATETIME(3) NULL,
    ${times},
    deleted_at DATETIME(3) NULL,
    UNIQUE KEY uq_users_username (username)
  )`,
  `CREATE TABLE IF NOT EXISTS orders (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    period INT UNSIGNED NOT NULL,
    order_no CHAR(35) ${number} NOT NULL,
    user_id BIGINT UNSIGNED NOT NULL,
    amount DECIMAL(18,2) NOT NULL,
    status VARCHAR(20) ${number} NOT NULL DEFAULT 'pending',
    remark VARCHAR(500) NULL,
    expire_at DATETIME(3) NULL,
    paid_at DATETIME(3) NULL,
    payment_no CHAR(37) ${number} NULL,
    ${times},
    deleted_at DATETIME(3) NULL,
    PRIMARY KEY (id, period),
    UNIQUE KEY uq_orders_no (order_no, period),
    KEY ix_orders_user (user_id),
    KEY ix_orders_status (status, deleted_at, expire_at),
    KEY ix_orders_created (created_at),
    KEY ix_orders_paid (paid_at)
  ) ${partitionClause()}`,
  `CREATE TABLE IF NOT EXISTS order_details (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    period INT UNSIGNED NOT NULL,
    order_no CHAR(35) ${number} NOT NULL,
    product_id BIGINT UNSIGNED NULL,
    product_name VARCHAR(200) NOT NULL,
    price DECIMAL(18,2) NOT NULL,
    quantity INT UNSIGNED NOT NULL,
    subtotal DECIMAL(18,2) NOT NULL,
    PRIMARY KEY (id, period),
    KEY ix_order_details_no (order_no, period)
  ) ${partitionClause()}`,
  `CREATE TABLE IF NOT EXISTS payment_methods (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name VARCHAR(50) NOT NULL,
    code VARCHAR(50) NOT NULL,
    type VARCHAR(20) ${number} NOT NULL,
    config TEXT NOT NULL,
    secrets TEXT NOT NULL,
    is_active TINYINT NOT NULL DEFAULT 1,
    sort INT NOT NULL DEFAULT 0,
    description VARCHAR(255) NULL,
    ${times},
    UNIQUE KEY uq_payment_methods_code (code)
  )`,
  `CREATE TABLE IF NOT EXISTS payments (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    period INT UNSIGNED NOT NULL,
    payment_no CHAR(37) ${number} NOT NULL,
    order_no CHAR(35) ${number} NOT NULL,
    user_id BIGINT UNSIGNED NOT NULL,
    payment_method_id BIGINT UNSIGNED NOT NULL,
    amount DECIMAL(18,2) NOT NULL,
    status VARCHAR(20) ${number} NOT NULL DEFAULT 'pending',
    third_party_no VARCHAR(64) ${number} NULL,
    pay_time DATETIME(3) NULL,
    notify_data TEXT NULL,
    needs_attention TINYINT NOT NULL DEFAULT 0,
    fail_reason VARCHAR(255) NULL,
    remark VARCHAR(500) NULL,
    ${times},
    PRIMARY KEY (id, period),
    UNIQUE KEY uq_payments_no (payment_no, period),
    KEY ix_payments_order (order_no),
    KEY ix_payments_user (user_id),
    KEY ix_payments_method (payment_method_id),
    KEY ix_payments_third_party (third_party_no),
    KEY ix_payments_status (status),
    KEY ix_payments_attention (needs_attention),
    KEY ix_payments_pay_time (pay_time),
    KEY ix_payments_created (created_at)
  ) ${partitionClause()}`,
  // One third-party number pays one payment, over all months: a partitioned table could not promise that.
  `CREATE TABLE IF NOT EXISTS third_party_numbers (
    type VARCHAR(20) ${number} NOT NULL,
    third_party_no VARCHAR(64) ${number} NOT NULL,
    payment_no CHAR(37) ${number} NOT NULL,
    PRIMARY KEY (type, third_party_no)
  )`,
  `CREATE TABLE IF NOT EXISTS payment_callbacks (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    period INT UNSIGNED NOT NULL,
    type VARCHAR(20) ${number} NOT NULL,
    payment_no CHAR(37) ${number} NULL,
    third_party_no VARCHAR(64) ${number} NULL,
    body TEXT NOT NULL,
    ip VARCHAR(45) NOT NULL,
    state VARCHAR(10) ${number} NOT NULL,
    verdict VARCHAR(50) NOT NULL,
    trace_id VARCHAR(64) ${number} NOT NULL,
    created_at DATETIME(3) NOT NULL,
    settled_at DATETIME(3) NULL,
    PRIMARY KEY (id, period),
    KEY ix_payment_callbacks_no (payment_no),
    KEY ix_payment_callbacks_state (state, created_at)
  ) ${partitionClause()}`,
  `CREATE TABLE IF NOT EXISTS idempotency_keys (
    scope VARCHAR(20) ${number} NOT NULL,
    admin_id BIGINT UNSIGNED NOT NULL,
    idempotency_key VARCHAR(128) ${number} NOT NULL,
    request_hash CHAR(64) ${number} NOT NULL,
    result_no VARCHAR(40) ${number} NOT NULL,
    created_at DATETIME(3) NOT NULL,
    PRIMARY KEY (scope, admin_id, idempotency_key),
    KEY ix_idempotency_keys_created (created_at)
  )`,
];

export const ordersAndPayments: Migration = {
  name: '0002-orders-and-payments',
  async up(run) {
    for (const table of tables()) await run(table);
  },
  async down(run) {
    const names =
      'idempotency_keys payment_callbacks third_party_numbers payments payment_methods order_details orders users';
    for (const name of names.split(' ')) await run(`DROP TABLE IF EXISTS ${name}`);
  },
};
