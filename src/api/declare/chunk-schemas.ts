// Requests of chunked uploads: /attachments/chunk takes four kinds of calls.
import Joi from 'joi';
import { config } from '../../../config/index.js';
import { documentedAs, named, nonEmptyText } from '../../lib/input/schema.js';

export const maxChunks = 10_000;

export interface ChunkCall {
  action: 'init' | 'upload' | 'merge' | 'cancel';
  chunk_id?: string;
  chunk_index?: number;
  total_chunks?: number;
  filename?: string;
  total_size?: number;
  chunk_size?: number;
  sha256?: string;
}

/** Names an upload among those of its administrator; never a part of a path. */
export const chunkId = () => nonEmptyText(128);

const chunkIndex = Joi.number()
  .integer()
  .min(0)
  .max(maxChunks - 1);

const filename = Joi.string().max(1000);

// The plan sent with init; other calls may repeat it and must then agree.
const plan = {
  total_chunks: Joi.number().integer().min(1).max(maxChunks),
  total_size: Joi.number().integer().min(1).max(config.storage.chunkedMaxBytes),
  chunk_size: Joi.number().integer().min(1).max(config.storage.chunkMaxBytes),
  sha256: Joi.string().pattern(/^[0-9a-f]{64}$/),
};

const toDo = Joi.string().description('What to do');

const call = (action: ChunkCall['action'], keys: Joi.PartialSchemaMap): Joi.ObjectSchema =>
  Joi.object({ action: toDo.valid(action).required(), ...keys });

const planned = { chunk_id: chunkId().required(), filename, ...plan };

export const chunkForm = call('upload', { ...planned, chunk_index: chunkIndex.required() });

const otherCalls = Joi.alternatives()
  .try(
    named('BeginChunkUpload', call('init', { filename: filename.required(), ...plan })),
    named('MergeChunkUpload', call('merge', planned)),
    named('CancelChunkUpload', call('cancel', { chunk_id: chunkId().required() })),
  )
  .match('one');

/** Any of the calls; chunks are forms, the others JSON. */
export const chunkCall = documentedAs(
  Joi.object<ChunkCall, true>({
    action: Joi.string().valid('init', 'upload', 'merge', 'cancel').required(),
    chunk_id: chunkId().when('action', {
      is: Joi.valid('upload', 'merge', 'cancel').required(),
      then: Joi.required(),
    }),
    chunk_index: chunkIndex.when('action', { is: 'upload', then: Joi.required() }),
    filename: filename.when('action', { is: 'init', then: Joi.required() }),
    ...plan,
  }),
  otherCalls,
);
