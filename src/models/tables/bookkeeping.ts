// Tables shared by all rooms: versions, claims, and the journals behind totals.
import type { CreationOptional } from 'sequelize';
import { Model } from 'sequelize-typescript';
import type { Money } from '../../lib/money.js';
import { ascii, big, code, flag, instant, money, generated, text, tiny, unsigned } from './column.js';
import { Column, Table, type NewRow, type Row } from './table.js';

/** A number per scope that is raised by every change of it. */
@Table('versions')
export class Version extends Model<Row<Version>, NewRow<Version>> {
  @Column(ascii(40).primary()) declare scope: string;
  @Column(big()) declare version: number;
}

/** Work that one process at a time may do. */
@Table('claims')
export class Claim extends Model<Row<Claim>, NewRow<Claim>> {
  @Column(ascii(50).primary()) declare name: string;
  /** Empty while it is free. */
  @Column(ascii(20)) declare owner: string;
  @Column(instant()) declare expires_at: Date;
}

/** Orders that changed, as they were and as they are now. */
@Table('order_changes')
export class OrderChange extends Model<Row<OrderChange>, NewRow<OrderChange>> {
  @Column(generated()) declare seq: CreationOptional<number>;
  /** Ten-second steps of the server's clock. */
  @Column(unsigned()) declare epoch: number;
  /** -1 for the row as it was, 1 for the row as it is. */
  @Column(tiny(-1, 1)) declare sign: -1 | 1;
  @Column(big()) declare id: number;
  @Column(unsigned()) declare period: number;
  @Column(code(35)) declare order_no: string;
  @Column(big()) declare user_id: number;
  @Column(money()) declare amount: Money;
  @Column(ascii(20)) declare status: string;
  @Column(text(500).nullable()) declare remark: string | null;
  @Column(instant()) declare created_at: Date;
  @Column(instant().nullable()) declare deleted_at: Date | null;
}

/** Payments that changed. */
@Table('payment_changes')
export class PaymentChange extends Model<Row<PaymentChange>, NewRow<PaymentChange>> {
  @Column(generated()) declare seq: CreationOptional<number>;
  @Column(unsigned()) declare epoch: number;
  @Column(tiny(-1, 1)) declare sign: -1 | 1;
  @Column(big()) declare id: number;
  @Column(unsigned()) declare period: number;
  @Column(code(37)) declare payment_no: string;
  @Column(code(35)) declare order_no: string;
  @Column(big()) declare user_id: number;
  @Column(big()) declare payment_method_id: number;
  @Column(ascii(20)) declare status: string;
  @Column(ascii(64).nullable()) declare third_party_no: string | null;
  @Column(instant().nullable()) declare pay_time: Date | null;
  @Column(flag()) declare needs_attention: boolean;
  @Column(instant()) declare created_at: Date;
}
