// Writes an entry of the login log; entries that arrive together are written together.
import Joi from 'joi';
import { writeLogins, type LoginEntry } from '../models/login-log.js';
import { batched } from './batch.js';
import { job } from './job.js';

const write = batched(writeLogins, 50, 100);

export const writeLoginLog = job<LoginEntry>({
  name: 'write-login-log',
  queue: 'logs',
  attempts: 10,
  backoffMs: 500,
  timeoutMs: 15_000,
  payload: Joi.object<LoginEntry, true>({
    log_key: Joi.string().required(),
    admin_id: Joi.number().allow(null).required(),
    username: Joi.string().allow('').required(),
    ip: Joi.string().allow('').required(),
    user_agent: Joi.string().allow('').required(),
    browser: Joi.string().allow('').required(),
    os: Joi.string().allow('').required(),
    device: Joi.string().required(),
    status: Joi.number().valid(0, 1).required(),
    outcome: Joi.string().required(),
    created_at: Joi.string().required(),
  }),
  key: ({ log_key }) => log_key,
  run: (entry) => write(entry),
});
