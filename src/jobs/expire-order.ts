// Cancels a pending order when its time is up.
import Joi from 'joi';
import { expireOrder as expire } from '../models/trade/order.js';
import { job } from './job.js';

export const expireOrder = job({
  name: 'expire-order',
  queue: 'payments',
  attempts: 8,
  backoffMs: 1000,
  timeoutMs: 10_000,
  // Many orders expire at once; money must not wait for them.
  yields: true,
  payload: Joi.object<{ order_no: string }, true>({ order_no: Joi.string().required() }),
  key: ({ order_no }) => order_no,
  run: ({ order_no }) => expire(order_no),
});
