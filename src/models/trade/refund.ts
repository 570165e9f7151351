// refunds: lists and records. refund-request.ts creates refunds, refund-decision.ts decides, refund-run.ts sends them.
import Joi from 'joi';
import type { Transaction } from 'sequelize';
import { fail } from '../../lib/errors/app-error.js';
import { listQuery, Where, type Criteria, type ListQuery, type Page } from '../../lib/input/list-query.js';
import { id, textFilter } from '../../lib/input/schema.js';
import { Money } from '../../lib/values/money.js';
import { orderKey, paymentKey, refundPeriod } from '../../lib/values/numbers.js';
import { Admin } from '../access/tables.js';
import { lockRows } from '../tables/rows.js';
import { columnsOf, joined, selection, sumWhere, type RowOf } from '../tables/selection.js';
import { Payment, PaymentMethod, User } from './tables.js';
import { Refund, refundDestinations, refundStatuses } from './channel-tables.js';

const shown = {
  ...columnsOf(Refund, 'r'),
  user: joined(columnsOf(User, 'u', 'id', 'username')),
  payment_method: joined(columnsOf(PaymentMethod, 'm', 'id', 'name', 'code', 'type')),
  requester: joined(columnsOf(Admin, 'a', 'id', 'username')),
  approver: joined(columnsOf(Admin, 'b', 'id', 'username')),
};

const records = selection(
  shown,
  'refunds r',
  `LEFT JOIN users u ON u.id = r.user_id LEFT JOIN payment_methods m ON m.id = r.payment_method_id
   LEFT JOIN admins a ON a.id = r.requested_by LEFT JOIN admins b ON b.id = r.approved_by`,
);

type RefundRecord = RowOf<typeof shown>;

export const listRefunds = (query: RefundFilter): Promise<Page<RefundRecord>> =>
  records.page(query, refundsWhere(query));

export const sumRefunds = (criteria: RefundCriteria): Promise<Money | undefined> =>
  sumWhere(columnsOf(Refund, 'r').amount, 'refunds r', refundsWhere(criteria));

/** The refund of that number or numeric id, locked in a transaction. @throws refund_not_found */
export async function getRefund(reference: string, t?: Transaction): Promise<RefundRecord> {
  const where = new Where().byReference('r', 'refund_no', reference, refundPeriod(reference));
  if (!where) fail('refund_not_found');
  if (t) await lockRows('refunds r', where, t);
  return (await records.first(where.sql, where.values, { t })) ?? fail('refund_not_found');
}

/** The key of a refund in statements. @throws refund_not_found for any other text */
export function keyOfRefund(refundNo: string): { refund_no: string; period: number } {
  return { refund_no: refundNo, period: refundPeriod(refundNo) ?? fail('refund_not_found') };
}

/** Max refunds shown with a payment or an order. */
const maxShown = 200;

/** The refunds of a payment, oldest first, and what is left to refund. */
export async function refundsOf(paymentNo: string): Promise<{ refunds: RefundRecord[]; refundable: Money }> {
  const of = paymentKey(paymentNo);
  const [refunds, payment] = await Promise.all([
    records.rows(
      `WHERE r.payment_no = :payment_no AND r.period >= :period ORDER BY r.id LIMIT ${maxShown}`,
      of,
    ),
    payments.first('WHERE p.payment_no = :payment_no AND p.period = :period', of),
  ]);
  const refundable = payment?.status === 'paid' ? payment.amount.minus(payment.refund_reserved) : Money.zero;
  return { refunds, refundable };
}

/** The refunds of an order, oldest first. */
export const refundsOfOrder = (orderNo: string): Promise<RefundRecord[]> =>
  records.rows(
    `WHERE r.order_no = :order_no AND r.period >= :period ORDER BY r.id LIMIT ${maxShown}`,
    orderKey(orderNo),
  );

const payments = selection(columnsOf(Payment, 'p', 'status', 'amount', 'refund_reserved'), 'payments p');

export const refundFilters = {
  refund_no: textFilter(64),
  payment_no: textFilter(64),
  order_no: textFilter(64),
  user_id: id(),
  payment_method_id: id(),
  status: Joi.string().valid(...refundStatuses),
  destination: Joi.string().valid(...refundDestinations),
  needs_attention: Joi.boolean(),
  time_field: Joi.string().valid('created_at', 'finished_at').default('created_at'),
};

export type RefundCriteria = Criteria<typeof refundFilters> & { time_field: string };

type RefundFilter = RefundCriteria & ListQuery;

/** The query of the list. */
export const refundQuery = listQuery<RefundFilter>(
  ['id', 'amount', 'status', 'finished_at', 'created_at', 'updated_at'],
  refundFilters,
);

/** The condition of a list over `refunds r`. */
export function refundsWhere(criteria: RefundCriteria): Where {
  return new Where()
    .numbered('r.refund_no', criteria.refund_no, 'r.period')
    .numbered('r.payment_no', criteria.payment_no)
    .numbered('r.order_no', criteria.order_no)
    .equals('r.user_id', criteria.user_id)
    .equals('r.payment_method_id', criteria.payment_method_id)
    .equals('r.status', criteria.status)
    .equals('r.destination', criteria.destination)
    .equals('r.needs_attention', criteria.needs_attention)
    .duringField('r', criteria);
}
