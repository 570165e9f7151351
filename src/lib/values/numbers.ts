// Order, payment and refund numbers, and the months in them; ids as texts.
import { newUlid } from '../secrets/random-id.js';

const orderNumber = /^ORD(\d{4})(0[1-9]|1[0-2])[0-9A-HJKMNP-TV-Z]{26}$/;
const paymentNumber = /^PAY(\d{4})(0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[0-9A-HJKMNP-TV-Z]{26}$/;
const refundNumber = /^REF(\d{4})(0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[0-9A-HJKMNP-TV-Z]{26}$/;

/** Whether a text is the id of a row. */
export const isId = (text: string): boolean =>
  /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text));

/** A new order number of that instant in UTC: ORD + YYYYMM + ULID (spec.md, Order). */
export const newOrderNumber = (at: Date): string => `ORD${digits(at, 7)}${newUlid(at.getTime())}`;

/** A new payment number of that instant in UTC: PAY + YYYYMMDD + ULID (spec.md, Payment). */
export const newPaymentNumber = (at: Date): string => `PAY${digits(at, 10)}${newUlid(at.getTime())}`;

/** A new refund number of that instant in UTC: REF + YYYYMMDD + ULID. */
export const newRefundNumber = (at: Date): string => `REF${digits(at, 10)}${newUlid(at.getTime())}`;

/** The partition of an order number, YYYYMM as an integer; undefined when malformed. */
export const orderPeriod = (number: string): number | undefined => periodIn(orderNumber.exec(number));

/** The partition of a payment number, YYYYMM as an integer; undefined when malformed. */
export const paymentPeriod = (number: string): number | undefined => periodIn(paymentNumber.exec(number));

/** The partition of a refund number, YYYYMM as an integer; undefined when malformed. */
export const refundPeriod = (number: string): number | undefined => periodIn(refundNumber.exec(number));

/** The key of an order in statements; no row has that of a malformed number. */
export const orderKey = (order_no: string) => ({ order_no, period: orderPeriod(order_no) ?? 0 });

/** The same of a payment. */
export const paymentKey = (payment_no: string) => ({ payment_no, period: paymentPeriod(payment_no) ?? 0 });

/**
 * The first and last month of numbers with this prefix; undefined when no number starts so. (ORD cannot occur
 * later in one: ULIDs have no O.)
 */
export function periodsOf(head: string): [first: number, last: number] | undefined {
  const match = /^(?:ORD|PAY|REF)(\d{0,6})/.exec(head);
  if (!match) return undefined;
  const [, month] = match as unknown as [string, string];
  return [Number(month.padEnd(6, '0')), Number(month.padEnd(6, '9'))];
}

/** The partition of an instant: its month in UTC, YYYYMM as an integer. */
export function periodOf(at: Date): number {
  return at.getUTCFullYear() * 100 + at.getUTCMonth() + 1;
}

/** The first instant of a partition. */
export function startOfPeriod(period: number): Date {
  return new Date(Date.UTC(Math.floor(period / 100), (period % 100) - 1));
}

/** The partition `months` after (or before) another one. */
export function shiftPeriod(period: number, months: number): number {
  const month = Math.floor(period / 100) * 12 + (period % 100) - 1 + months;
  return Math.floor(month / 12) * 100 + (month % 12) + 1;
}

function digits(at: Date, length: 7 | 10): string {
  return at.toISOString().slice(0, length).replaceAll('-', '');
}

function periodIn(match: RegExpExecArray | null): number | undefined {
  return match ? Number(`${match[1]}${match[2]}`) : undefined;
}
