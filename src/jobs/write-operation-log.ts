// Writes an entry of the operation log; entries that arrive together are written together.
import Joi from 'joi';
import { writeOperations, type OperationEntry } from '../models/operation-log.js';
import { batched } from './batch.js';
import { job } from './job.js';

const write = batched(writeOperations, 50, 100);

export const writeOperationLog = job<OperationEntry>({
  name: 'write-operation-log',
  queue: 'logs',
  attempts: 10,
  backoffMs: 500,
  timeoutMs: 15_000,
  payload: Joi.object<OperationEntry, true>({
    log_key: Joi.string().required(),
    admin_id: Joi.number().required(),
    username: Joi.string().required(),
    module: Joi.string().required(),
    action: Joi.string().required(),
    title: Joi.string().required(),
    method: Joi.string().required(),
    path: Joi.string().required(),
    ip: Joi.string().allow('').required(),
    user_agent: Joi.string().allow('').required(),
    request: Joi.string().allow(null).required(),
    status: Joi.number().required(),
    duration_ms: Joi.number().required(),
    changes: Joi.string().allow(null).required(),
    trace_id: Joi.string().required(),
    created_at: Joi.string().required(),
  }),
  key: ({ log_key }) => log_key,
  run: (entry) => write(entry),
});
