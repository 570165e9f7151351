// The tables of this room: users and their balances, orders, payments, and what a payment callback leaves behind.
import type { CreationOptional } from 'sequelize';
import { Model } from 'sequelize-typescript';
import { db } from '../../lib/database/db.js';
import { Money } from '../../lib/values/money.js';
import {
  ascii,
  big,
  code,
  cutJson,
  flag,
  id,
  instant,
  integer,
  longText,
  money,
  text,
  tiny,
  unsigned,
  type Unlisted,
} from '../tables/column.js';
import { Column, Table, type NewRow, type Row } from '../tables/table.js';

/** The customers who place orders. */
@Table('users', { uq_users_username: ['username'] })
export class User extends Model<Row<User>, NewRow<User>> {
  @Column(id()) declare id: CreationOptional<number>;
  @Column(text(50)) declare username: string;
  @Column(text(100).nullable().secret()) declare password_hash: Unlisted<string | null>;
  @Column(text(50).default('')) declare nickname: CreationOptional<string>;
  @Column(text(500).nullable()) declare avatar: string | null;
  @Column(text(100).nullable()) declare email: string | null;
  @Column(text(30).nullable()) declare phone: string | null;
  @Column(money().default(Money.zero)) declare balance: CreationOptional<Money>;
  @Column(tiny().default(1)) declare status: CreationOptional<number>;
  @Column(instant().nullable()) declare last_login_at: Date | null;
  @Column(instant()) declare created_at: CreationOptional<Date>;
  @Column(instant()) declare updated_at: CreationOptional<Date>;
  @Column(instant().nullable().internal()) declare deleted_at: Unlisted<Date | null>;
}

export const balanceChangeTypes = ['income', 'expense', 'refund'] as const;

export type BalanceChangeType = (typeof balanceChangeTypes)[number];

/** What changed the balances of users. */
@Table('user_balance_logs', { uq_user_balance_logs_request: ['request_id'] })
export class BalanceLog extends Model<Row<BalanceLog>, NewRow<BalanceLog>> {
  @Column(id()) declare id: CreationOptional<number>;
  /** Written by the release before; dropped with the next one. */
  @Column(unsigned().default(0).internal()) declare period: Unlisted<CreationOptional<number>>;
  @Column(big()) declare user_id: number;
  @Column(ascii(10, balanceChangeTypes)) declare type: BalanceChangeType;
  @Column(money()) declare amount: Money;
  @Column(money()) declare balance_before: Money;
  @Column(money()) declare balance_after: Money;
  @Column(ascii(20)) declare source: string;
  @Column(text(64).nullable()) declare source_id: string | null;
  @Column(text(500).nullable()) declare description: string | null;
  @Column(big().nullable()) declare operator_id: number | null;
  @Column(ascii(64).nullable()) declare request_id: string | null;
  @Column(instant()) declare created_at: Date;
}

export const orderStatuses = ['pending', 'paid', 'cancelled'] as const;

export type OrderStatus = (typeof orderStatuses)[number];

/** Orders of users, to be paid. */
@Table('orders', { uq_orders_no: ['order_no', 'period'] })
export class Order extends Model<Row<Order>, NewRow<Order>> {
  @Column(id()) declare id: CreationOptional<number>;
  @Column(unsigned().primary().internal()) declare period: Unlisted<number>;
  @Column(code(35).titled('订单号', 'Order number')) declare order_no: string;
  @Column(big().titled('用户编号', 'User ID').filtered()) declare user_id: number;
  @Column(money().titled('订单金额', 'Order amount')) declare amount: Money;
  @Column(ascii(20, orderStatuses).default('pending').titled('状态', 'Status').filtered())
  declare status: CreationOptional<OrderStatus>;
  @Column(text(500).nullable().titled('备注', 'Remark')) declare remark: string | null;
  @Column(instant().nullable()) declare expire_at: Date | null;
  @Column(instant().nullable().titled('支付时间', 'Paid at')) declare paid_at: Date | null;
  /** The payment that paid it. */
  @Column(code(37).nullable().titled('支付单号', 'Payment number')) declare payment_no: string | null;
  @Column(instant().titled('创建时间', 'Created at')) declare created_at: Date;
  @Column(instant()) declare updated_at: Date;
  @Column(instant().nullable().internal()) declare deleted_at: Unlisted<Date | null>;
  @Column(instant().nullable()) declare cancelled_at: Date | null;
}

/** The lines of orders. */
@Table('order_details')
export class OrderDetail extends Model<Row<OrderDetail>, NewRow<OrderDetail>> {
  @Column(id().internal()) declare id: Unlisted<CreationOptional<number>>;
  @Column(unsigned().primary().internal()) declare period: Unlisted<number>;
  @Column(code(35).internal()) declare order_no: Unlisted<string>;
  @Column(big().nullable()) declare product_id: number | null;
  @Column(text(200)) declare product_name: string;
  @Column(money()) declare price: Money;
  @Column(unsigned()) declare quantity: number;
  @Column(money()) declare subtotal: Money;
}

/** How customers may pay. */
@Table('payment_methods', { uq_payment_methods_code: ['code'] })
export class PaymentMethod extends Model<Row<PaymentMethod>, NewRow<PaymentMethod>> {
  @Column(id()) declare id: CreationOptional<number>;
  @Column(text(50)) declare name: string;
  @Column(text(50)) declare code: string;
  /** The channel. */
  @Column(ascii(20)) declare type: string;
  /** JSON map of the settings that are not secret. */
  @Column(longText().internal()) declare config: Unlisted<string>;
  /** JSON map of sealed secrets. */
  @Column(longText().secret()) declare secrets: Unlisted<string>;
  @Column(flag().default(true)) declare is_active: CreationOptional<boolean>;
  @Column(integer().default(0)) declare sort: CreationOptional<number>;
  @Column(text(255).nullable()) declare description: string | null;
  @Column(instant()) declare created_at: CreationOptional<Date>;
  @Column(instant()) declare updated_at: CreationOptional<Date>;
}

export const paymentStatuses = ['pending', 'paid', 'failed', 'cancelled'] as const;

export type PaymentStatus = (typeof paymentStatuses)[number];

/** Ways to pay an order, each over one method. */
@Table('payments', { uq_payments_no: ['payment_no', 'period'] })
export class Payment extends Model<Row<Payment>, NewRow<Payment>> {
  @Column(id()) declare id: CreationOptional<number>;
  @Column(unsigned().primary().internal()) declare period: Unlisted<number>;
  @Column(code(37)) declare payment_no: string;
  @Column(code(35)) declare order_no: string;
  @Column(big()) declare user_id: number;
  @Column(big()) declare payment_method_id: number;
  @Column(money()) declare amount: Money;
  @Column(ascii(20, paymentStatuses).default('pending')) declare status: CreationOptional<PaymentStatus>;
  /** The channel's number. */
  @Column(ascii(64).nullable()) declare third_party_no: string | null;
  @Column(instant().nullable()) declare pay_time: Date | null;
  /** When it was cancelled or failed; stays when money arrives later. */
  @Column(instant().nullable()) declare closed_at: Date | null;
  /** What the channel reported. */
  @Column(longText().nullable().internal()) declare notify_data: Unlisted<string | null>;
  @Column(flag().default(false)) declare needs_attention: CreationOptional<boolean>;
  @Column(text(255).nullable()) declare fail_reason: string | null;
  /** The administrator who handles it. */
  @Column(big().nullable()) declare assignee_id: number | null;
  @Column(text(500).nullable()) declare remark: string | null;
  @Column(instant()) declare created_at: Date;
  @Column(instant()) declare updated_at: Date;
  /** Reserved for refunds that have neither failed nor been rejected. */
  @Column(money().default(Money.zero).internal()) declare refund_reserved: Unlisted<CreationOptional<Money>>;
  /** The sum of its succeeded refunds. */
  @Column(money().default(Money.zero)) declare refunded_amount: CreationOptional<Money>;
}

/** Which payment a channel's number belongs to, over all months. */
@Table('third_party_numbers')
export class ThirdPartyNumber extends Model<Row<ThirdPartyNumber>, NewRow<ThirdPartyNumber>> {
  @Column(ascii(20).primary()) declare type: string;
  @Column(ascii(64).primary()) declare third_party_no: string;
  @Column(code(37)) declare payment_no: string;
}

const callbackStates = ['pending', 'settled', 'refused'] as const;

/** pending: verified, to be settled; settled: its result is final; refused: changed nothing. */
export type CallbackState = (typeof callbackStates)[number];

const callbackSources = ['callback', 'query'] as const;

type CallbackSource = (typeof callbackSources)[number];

/** The inbox of the payment callback. */
@Table('payment_callbacks', { uq_payment_callbacks_same: ['same_key', 'period'] })
export class PaymentCallback extends Model<Row<PaymentCallback>, NewRow<PaymentCallback>> {
  @Column(id()) declare id: CreationOptional<number>;
  @Column(unsigned().primary().internal()) declare period: Unlisted<number>;
  @Column(ascii(20)) declare type: string;
  @Column(code(37).nullable().internal()) declare payment_no: Unlisted<string | null>;
  @Column(ascii(64).nullable()) declare third_party_no: string | null;
  /** Its fields, masked; cut off when nothing proves them. */
  @Column(cutJson()) declare body: unknown;
  @Column(text(45)) declare ip: string;
  @Column(ascii(10, callbackStates)) declare state: CallbackState;
  /** Error slug of a refusal, or the outcome of settling it. */
  @Column(text(50)) declare verdict: string;
  /** The amount it reports, if that is not the amount of the payment. */
  @Column(money().nullable()) declare reported_amount: Money | null;
  @Column(ascii(64).internal()) declare trace_id: Unlisted<string>;
  /** Equal for identical callbacks that prove nothing. */
  @Column(code(43).nullable().internal()) declare same_key: Unlisted<string | null>;
  /** How often it arrived within a day; more than once only if it proves nothing. */
  @Column(unsigned().default(1)) declare times: CreationOptional<number>;
  /** When it last arrived, if more than once. */
  @Column(instant().nullable()) declare last_at: Date | null;
  @Column(instant()) declare created_at: Date;
  @Column(instant().nullable()) declare settled_at: Date | null;
  /** A refused one as it arrived, sealed; null for very long ones and those without a payment. */
  @Column(longText().nullable().secret()) declare sealed: Unlisted<string | null>;
  /** When the money arrived, by the company's clock; null when it does not say. */
  @Column(instant().nullable().internal()) declare paid_at: Unlisted<Date | null>;
  /** callback: the company called; query: it was asked. */
  @Column(ascii(10, callbackSources).default('callback')) declare source: CreationOptional<CallbackSource>;
}

/** Reasons for attention that people cleared. */
@Table('payment_handlings')
export class PaymentHandling extends Model<Row<PaymentHandling>, NewRow<PaymentHandling>> {
  @Column(id()) declare id: CreationOptional<number>;
  @Column(code(37).internal()) declare payment_no: Unlisted<string>;
  /** The reason that was cleared. */
  @Column(text(255)) declare reason: string;
  /** The administrator's remark. */
  @Column(text(500).nullable()) declare remark: string | null;
  @Column(big()) declare admin_id: number;
  /** The administrator's username at the time. */
  @Column(text(50)) declare username: string;
  @Column(instant()) declare created_at: Date;
}

/** Records that were created under an Idempotency-Key. */
@Table('idempotency_keys')
export class IdempotencyKey extends Model<Row<IdempotencyKey>, NewRow<IdempotencyKey>> {
  /** What the key is used for: the slug of a permission. */
  @Column(ascii(64).primary()) declare scope: string;
  @Column(big().primary()) declare admin_id: number;
  @Column(ascii(128).primary()) declare idempotency_key: string;
  @Column(code(64)) declare request_hash: string;
  @Column(ascii(40)) declare result_no: string;
  @Column(instant()) declare created_at: Date;
}

db.addModels([
  User,
  BalanceLog,
  Order,
  OrderDetail,
  PaymentMethod,
  Payment,
  ThirdPartyNumber,
  PaymentCallback,
  PaymentHandling,
  IdempotencyKey,
]);
