// Filters of refunds in lists, exports and totals.
import Joi from 'joi';
import { Where, type TimeRange } from '../../lib/input/list-query.js';
import { id } from '../../lib/input/schema.js';
import {
  refundDestinations,
  refundStatuses,
  type RefundDestination,
  type RefundStatus,
} from './channel-tables.js';

export interface RefundCriteria extends TimeRange {
  refund_no?: string;
  payment_no?: string;
  order_no?: string;
  user_id?: number;
  payment_method_id?: number;
  status?: RefundStatus;
  destination?: RefundDestination;
  needs_attention?: boolean;
}

/** The filters of the list and of its export. */
export const refundFilters = {
  refund_no: Joi.string().allow('').max(64),
  payment_no: Joi.string().allow('').max(64),
  order_no: Joi.string().allow('').max(64),
  user_id: id(),
  payment_method_id: id(),
  status: Joi.string().valid(...refundStatuses),
  destination: Joi.string().valid(...refundDestinations),
  needs_attention: Joi.boolean(),
};

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
    .during('r.created_at', criteria, 'r.period');
}
