// Writes log entries. They wait in the queue while the database is unavailable.
import Joi from 'joi';
import { writeEntries, type LogItem } from '../models/logs/log-entries.js';
import { job } from './job.js';

export interface WriteLogs {
  /** ULID of the batch. */
  batch: string;
  items: LogItem[];
}

/** Entries of a job at most. */
export const maxItems = 200;

const item = Joi.object<LogItem, true>({
  kind: Joi.string().valid('operation', 'login', 'system').required(),
  entry: Joi.object().unknown(true).required(),
});

export const writeLogs = job({
  name: 'write-logs',
  queue: 'logs',
  attempts: 8,
  backoffMs: 1000,
  timeoutMs: 60_000,
  payload: Joi.object<WriteLogs, true>({
    batch: Joi.string().required(),
    // Jobs of earlier releases name only their batch; a migration has moved their entries.
    items: Joi.array().items(item).max(maxItems).default([]),
  }),
  key: ({ batch }) => batch,
  run: ({ items }) => writeEntries(items),
});
