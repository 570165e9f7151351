// The tables of the work with payment companies: follow-ups of payments, and refunds.
import type { CreationOptional } from 'sequelize';
import { Model } from 'sequelize-typescript';
import { db } from '../../lib/database/db.js';
import type { Money } from '../../lib/values/money.js';
import {
  ascii,
  big,
  code,
  flag,
  id,
  instant,
  money,
  text,
  unsigned,
  type Unlisted,
} from '../tables/column.js';
import { Column, Table, type NewRow, type Row } from '../tables/table.js';

/** Placed payments of channels with open results, until the company gives a final answer. */
@Table('payment_follow_ups')
export class PaymentFollowUp extends Model<Row<PaymentFollowUp>, NewRow<PaymentFollowUp>> {
  @Column(code(37).primary().internal()) declare payment_no: Unlisted<string>;
  @Column(unsigned().internal()) declare period: Unlisted<number>;
  /** Type of the payment channel. */
  @Column(ascii(20).internal()) declare type: Unlisted<string>;
  /** The expiry sent to the company. */
  @Column(instant()) declare expire_at: Date;
  /** When asking ends. */
  @Column(instant()) declare until_at: Date;
  /** When the company is asked next; a run moves it ahead before it asks. */
  @Column(instant()) declare due_at: Date;
  /** How often it was asked. */
  @Column(unsigned().default(0)) declare asked: CreationOptional<number>;
  @Column(instant().nullable()) declare last_asked_at: Date | null;
  /** The last answer in the company's terms; null when it gave none. */
  @Column(text(50).nullable()) declare last_answer: string | null;
  /** When closing it there was requested. */
  @Column(instant().nullable()) declare closing_at: Date | null;
  /** Whether its order waits for it before it expires. */
  @Column(flag().default(true).internal()) declare holds_order: CreationOptional<Unlisted<boolean>>;
  @Column(instant()) declare created_at: Date;
}

export const refundStatuses = [
  'waiting',
  'pending',
  'processing',
  'succeeded',
  'failed',
  'rejected',
] as const;

/** waiting: for approval; pending: not sent yet; processing: sent, without a final answer. */
type RefundStatus = (typeof refundStatuses)[number];

export const refundDestinations = ['channel', 'balance'] as const;

export type RefundDestination = (typeof refundDestinations)[number];

/** Refunds of payments, through their channel or to the balance of the user. */
@Table('refunds', { uq_refunds_no: ['refund_no', 'period'] })
export class Refund extends Model<Row<Refund>, NewRow<Refund>> {
  @Column(id()) declare id: CreationOptional<number>;
  @Column(unsigned().primary().internal()) declare period: Unlisted<number>;
  @Column(code(37)) declare refund_no: string;
  @Column(code(37)) declare payment_no: string;
  @Column(code(35)) declare order_no: string;
  @Column(big()) declare user_id: number;
  @Column(big()) declare payment_method_id: number;
  @Column(money()) declare amount: Money;
  @Column(ascii(10, refundDestinations)) declare destination: RefundDestination;
  @Column(ascii(20, refundStatuses)) declare status: RefundStatus;
  @Column(text(80)) declare reason: string;
  /** The channel's number. */
  @Column(ascii(64).nullable()) declare channel_refund_no: string | null;
  /** Its last state in the channel's terms. */
  @Column(text(50).nullable()) declare code: string | null;
  /** Refused by the channel; final once a query confirms it. */
  @Column(flag().default(false).internal()) declare is_refused: Unlisted<CreationOptional<boolean>>;
  @Column(flag().default(false)) declare needs_attention: CreationOptional<boolean>;
  @Column(text(255).nullable()) declare fail_reason: string | null;
  @Column(big()) declare requested_by: number;
  /** Who approved or rejected it. */
  @Column(big().nullable()) declare approved_by: number | null;
  /** When it was first sent. */
  @Column(instant().nullable()) declare sent_at: Date | null;
  /** When the channel first confirmed that it has it. */
  @Column(instant().nullable()) declare accepted_at: Date | null;
  @Column(instant().nullable()) declare finished_at: Date | null;
  /** When the channel is asked next; moved ahead while it is asked. */
  @Column(instant().nullable()) declare due_at: Date | null;
  /** How often the channel was asked. */
  @Column(unsigned().default(0)) declare tries: CreationOptional<number>;
  @Column(instant()) declare created_at: Date;
  @Column(instant()) declare updated_at: Date;
}

db.addModels([PaymentFollowUp, Refund]);
