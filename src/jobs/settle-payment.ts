// Applies a verified payment callback.
import Joi from 'joi';
import { id } from '../lib/input/schema.js';
import { recordFailure } from '../models/trade/payment-callback.js';
import type { Unsettled } from '../models/trade/payment-attempt.js';
import { settle, settleTogether } from '../models/trade/payment-settlement.js';
import { job } from './job.js';

const maxTogether = 32;

export const settlePayment = job({
  name: 'settle-payment',
  queue: 'payments',
  attempts: 10,
  backoffMs: 200,
  timeoutMs: 10_000,
  payload: Joi.object<Unsettled, true>({
    id: id().required(),
    period: id().required(),
    payment_no: Joi.string(),
    order_no: Joi.string(),
  }).and('payment_no', 'order_no'),
  key: ({ id, period }) => `${period}-${id}`,
  run: (callback) => settle(callback),
  together: { max: maxTogether, run: (callbacks) => settleTogether(callbacks) },
  onAbandoned: (callback) => recordFailure(callback, 'retrying'),
});
