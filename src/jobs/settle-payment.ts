// Applies a verified payment callback.
import Joi from 'joi';
import { id } from '../lib/input/schema.js';
import { recordFailure, type CallbackKey } from '../models/trade/payment-callback.js';
import { settle } from '../models/trade/payment-settlement.js';
import { job } from './job.js';

export const settlePayment = job({
  name: 'settle-payment',
  queue: 'payments',
  attempts: 10,
  backoffMs: 200,
  timeoutMs: 10_000,
  // Jobs of earlier releases also name payment and order.
  payload: Joi.object<CallbackKey, true>({ id: id().required(), period: id().required() }).unknown(true),
  key: ({ id, period }) => `${period}-${id}`,
  run: (callback) => settle(callback),
  onAbandoned: recordFailure,
});
