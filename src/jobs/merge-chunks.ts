// Puts the chunks of an upload together and makes the attachment.
import Joi from 'joi';
import { id } from '../lib/input/schema.js';
import type { SessionKey } from '../models/files/chunk.js';
import { failMerge, merge, reopenMerge } from '../models/files/chunk-merge.js';
import { job } from './job.js';

export const mergeChunks = job({
  name: 'merge-chunks',
  queue: 'files',
  attempts: 8,
  backoffMs: 2000,
  timeoutMs: 1_800_000,
  payload: Joi.object<SessionKey, true>({ admin_id: id().required(), chunk_id: Joi.string().required() }),
  key: ({ admin_id, chunk_id }) => `${admin_id}-${chunk_id}`,
  run: merge,
  async onAbandoned(key) {
    await failMerge(key, 'upload_failed', { isFinal: false });
  },
  reopen: reopenMerge,
});
