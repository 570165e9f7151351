// Imports orders from a file that an administrator has sent.
import Joi from 'joi';
import { id } from '../lib/input/schema.js';
import { endImport, reopenImport } from '../models/imports/import-end.js';
import { runImport } from '../models/imports/import-run.js';
import { job } from './job.js';

export const importOrders = job({
  name: 'import-orders',
  queue: 'imports',
  // A run resumes where the previous one ended, so several may share a large file; together they last half an hour.
  attempts: 12,
  backoffMs: 1000,
  timeoutMs: 3_600_000,
  payload: Joi.object<{ id: number }, true>({ id: id().required() }),
  key: (payload) => String(payload.id),
  run: (payload, signal) => runImport(payload.id, signal),
  async onAbandoned({ id }) {
    await endImport(id, { status: 2, error: 'import_failed' });
  },
  reopen: ({ id }) => reopenImport(id),
});
