// Moves log entries from the outbox into the log tables, in batches.
import Joi from 'joi';
import { moveLogs } from '../models/logs/log-outbox.js';
import { job } from './job.js';

export interface WriteLogs {
  /** ULID of the batch of entries that queued it. */
  batch: string;
}

export const writeLogs = job({
  name: 'write-logs',
  queue: 'logs',
  // The rows wait: the next entries or the sweeper repeat a failed run.
  attempts: 8,
  backoffMs: 1000,
  timeoutMs: 60_000,
  payload: Joi.object<WriteLogs, true>({ batch: Joi.string().required() }),
  key: ({ batch }) => batch,
  run: (_, signal) => moveLogs(signal),
});
