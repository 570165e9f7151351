// Asks a payment company what became of a payment that was placed with it.
import Joi from 'joi';
import { config } from '../../config/index.js';
import { askDuePayment } from '../models/trade/channel-asking.js';
import { job } from './job.js';

/** A query, a closing and a second query. */
const maxRequests = 3;

export const askChannel = job({
  name: 'ask-channel',
  queue: 'channels',
  // Failures of the database: what a company does not say is an outcome, and asked again later.
  attempts: 8,
  backoffMs: 1000,
  timeoutMs: maxRequests * config.payments.gatewayTimeoutMs + 10_000,
  payload: Joi.object<{ payment_no: string }, true>({ payment_no: Joi.string().max(64).required() }),
  key: ({ payment_no }) => payment_no,
  run: ({ payment_no }, signal) => askDuePayment(payment_no, signal),
});
