// Refundable payments, their refunds, and the rows of both.
import type { Client } from './client.js';
import { callBack, makePayment, type MadePayment } from './factories.js';
import { selectRow } from './rows.js';
import { until } from './until.js';

/** A payment that is paid, made as by `makePayment`. */
export async function paidPayment(
  admin: Client,
  methodId?: number,
  price: string | number = '12.30',
): Promise<MadePayment> {
  const payment = await makePayment(admin, methodId, price);
  const { status, text } = await callBack(admin.with({ Authorization: '' }), payment);
  if (status !== 200) throw new Error(`the callback was refused: ${text}`);
  return payment;
}

interface Books {
  amount: string;
  status: string;
  refund_reserved: string;
  refunded_amount: string;
}

/** The sums of refunds in the payment's row. */
export function booksOf({ payment_no }: { payment_no: string }): Promise<Books> {
  return selectRow(
    'SELECT amount, status, refund_reserved, refunded_amount FROM payments WHERE payment_no = ?',
    [payment_no],
  );
}

/** A refund as its row has it. */
export interface RefundRow {
  refund_no: string;
  payment_no: string;
  status: string;
  code: string | null;
  tries: number;
  needs_attention: number;
  fail_reason: string | null;
  due_at: Date | null;
}

export const refundRow = (refundNo: string): Promise<RefundRow> =>
  selectRow('SELECT * FROM refunds WHERE refund_no = ?', [refundNo]);

/** Longer than a run is claimed for, shorter than a day. */
const isClaimed = ({ due_at }: RefundRow): boolean => {
  const left = (due_at?.getTime() ?? 0) - Date.now();
  return left > 90_000 && left < 3_600_000;
};

/** Refunds a part of a payment to its channel. @returns its row when the first run of the worker is over */
export async function refundPart(
  admin: Client,
  { payment_no }: { payment_no: string },
  amount = '5.00',
): Promise<RefundRow> {
  const body = { payment_no, amount, destination: 'channel', reason: 'sold out' };
  const { data, text } = await admin.post('/refunds', body);
  if (!data) throw new Error(text);
  return until(async () => {
    const row = await refundRow(data.refund_no);
    // A query that follows another too soon is postponed.
    const isPutOff = row.tries === 0 && (row.due_at?.getTime() ?? 0) > Date.now() + 10_000;
    return isPutOff || (row.tries > 0 && !isClaimed(row)) ? row : undefined;
  });
}
