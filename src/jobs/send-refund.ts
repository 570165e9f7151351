// Sends a refund to its channel, or asks what became of it.
import Joi from 'joi';
import { runRefund } from '../models/trade/refund-run.js';
import { job } from './job.js';

export const sendRefund = job({
  name: 'send-refund',
  queue: 'channels',
  attempts: 8,
  backoffMs: 1000,
  // Shorter than the lease of a run.
  timeoutMs: 60_000,
  payload: Joi.object<{ refund_no: string }, true>({ refund_no: Joi.string().required() }),
  key: ({ refund_no }) => refund_no,
  run: ({ refund_no }, signal) => runRefund(refund_no, signal),
});
