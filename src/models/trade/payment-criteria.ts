// Filters of payments in lists, exports and totals.
import Joi from 'joi';
import { now } from '../../lib/values/clock.js';
import { Where, type Criteria } from '../../lib/input/list-query.js';
import { id, textFilter } from '../../lib/input/schema.js';
import { paymentStatuses } from './tables.js';

/** Ten years. */
export const maxPendingMinutes = 5_256_000;

/** The filters of the list and of its export. */
export const paymentFilters = {
  payment_no: textFilter(64),
  order_no: textFilter(64),
  third_party_no: textFilter(64),
  payment_method_id: id(),
  user_id: id(),
  status: Joi.string().valid(...paymentStatuses),
  needs_attention: Joi.boolean(),
  assignee_id: id(),
  /** Minutes; only payments that have been pending for longer. */
  pending_longer_than: Joi.number().integer().min(1).max(maxPendingMinutes),
  time_field: Joi.string().valid('created_at', 'pay_time').default('created_at'),
};

export type PaymentCriteria = Criteria<typeof paymentFilters> & { time_field: string };

/** The condition of a list over `payments p`. */
export function paymentsWhere(criteria: PaymentCriteria): Where {
  const where = new Where()
    .numbered('p.payment_no', criteria.payment_no, 'p.period')
    .numbered('p.order_no', criteria.order_no)
    .containsAscii('p.third_party_no', criteria.third_party_no?.trim())
    .equals('p.payment_method_id', criteria.payment_method_id)
    .equals('p.user_id', criteria.user_id)
    .equals('p.status', criteria.status)
    .equals('p.needs_attention', criteria.needs_attention)
    .equals('p.assignee_id', criteria.assignee_id)
    .duringField('p', criteria);
  const { pending_longer_than: minutes } = criteria;
  if (minutes === undefined) return where;
  return where.and(`p.status = 'pending' AND p.created_at < ?`, wholeMinutesAgo(minutes));
}

// Rounded down to the minute, so that within a minute the total is counted once.
function wholeMinutesAgo(minutes: number): Date {
  return new Date((Math.floor(now().getTime() / 60_000) - minutes) * 60_000);
}
