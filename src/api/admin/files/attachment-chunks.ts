// /attachments/chunk: a large file in chunks. init (or the first chunk) opens a session, merge makes the attachment.
import Joi from 'joi';
import { config } from '../../../../config/index.js';
import { fail } from '../../../lib/errors/app-error.js';
import { QueueUnavailable } from '../../../lib/queue/queue.js';
import { refuseField } from '../../../lib/input/validation.js';
import { mergeChunks } from '../../../jobs/merge-chunks.js';
import { fileError, getAttachment } from '../../../models/files/attachment.js';
import { sessionKey, type SessionKey } from '../../../models/files/chunk.js';
import { beginMerge, stopWaiting, type Merge } from '../../../models/files/chunk-merge.js';
import { addChunk } from '../../../models/files/chunk-upload.js';
import {
  cancelSession,
  getOrOpenSession,
  assertMatchesSession,
  openSession,
  progressOf,
  type NewSession,
} from '../../../models/files/chunk-session.js';
import { ChunkUpload } from '../../../models/files/tables.js';
import { attachment } from '../../declare/records.js';
import { chunkCall, chunkForm, chunkId, maxChunks, type ChunkCall } from '../../declare/chunk-schemas.js';
import {
  type Answered,
  integer,
  keysOf,
  listOf,
  oneOf,
  resource,
  text,
  textOrNull,
  timestamp,
} from '../../declare/response.js';
import { can, route, type Upload } from '../../declare/route.js';

/** Max wait of a merge request for its attachment. */
const waitMs = 10_000;

const progress = resource('ChunkProgress', {
  ...keysOf(ChunkUpload),
  error_msg: textOrNull(),
  uploaded_count: integer(),
  uploaded_chunks: listOf(Joi.number().integer()),
  progress: integer(),
});

const opened = resource('ChunkUpload', {
  chunk_id: text(),
  chunk_size: integer(),
  total_chunks: integer(),
  expires_at: timestamp(),
});

const received = resource('ChunkReceived', {
  chunk_id: text(),
  chunk_index: integer(),
  size: integer(),
  uploaded_count: integer(),
  total_chunks: integer(),
  progress: integer(),
});

const standing = resource('ChunkStanding', {
  chunk_id: text(),
  status: oneOf('merging', 'cancelled'),
});

type Standing = Answered<typeof standing> | Answered<typeof attachment>;
const store = can('attachment.store', '上传附件', 'Upload attachments');

export const routes = [
  route('POST', '/attachments/chunk', {
    name: 'uploadChunk',
    summary: 'Upload a file in chunks',
    description:
      '`init` (filename, total_size or total_chunks, optionally chunk_size and sha256) returns a chunk_id; `upload` sends the ' +
      'chunk `chunk_index` (from 0) and opens the upload session by itself when it names filename and total_chunks; `merge` returns ' +
      'the attachment, or `{chunk_id, status: "merging"}` when that takes longer; `cancel` removes the chunks of an upload ' +
      'that is not being merged. Chunks are sent as forms, the other actions as JSON or as forms.',
    access: store,
    upload: {
      parts: ['file', 'chunk'],
      maxBytes: config.storage.chunkMaxBytes,
      required: false,
      fields: chunkForm,
    },
    body: chunkCall,
    isLogged: (body) => (body as ChunkCall | undefined)?.action === 'merge',
    fails: [
      'attachment_not_found',
      'chunk_count_invalid',
      'chunk_index_invalid',
      'chunk_session_closed',
      'chunk_session_mismatch',
      'chunk_session_not_found',
      'chunk_sessions_exhausted',
      'chunk_size_invalid',
      'chunks_missing',
      'file_content_mismatch',
      'file_empty',
      'file_name_invalid',
      'file_type_not_allowed',
      'upload_digest_mismatch',
      'upload_quota_exceeded',
      'upload_size_mismatch',
    ],
    response: Joi.alternatives().try(opened, received, attachment, standing).required(),
    handle({ admin, body, upload }) {
      if (body.action === 'init') return open(admin.adminId, body);
      const chunkId = body.chunk_id as string;
      const key = sessionKey(admin.adminId, chunkId);
      if (body.action === 'upload') return receive(key, body, upload);
      return body.action === 'merge' ? merge(key, body) : cancel(key, chunkId);
    },
  }),
  route('GET', '/attachments/chunk', {
    name: 'showChunkUpload',
    summary: 'Get the progress of a chunked upload',
    access: store,
    query: Joi.object<{ action: 'progress'; chunk_id: string }, true>({
      action: Joi.string().valid('progress').default('progress').description('What to do'),
      chunk_id: chunkId().required(),
    }),
    fails: ['chunk_session_not_found'],
    response: progress,
    handle: async ({ admin, query: { chunk_id } }) => ({
      ...(await progressOf(sessionKey(admin.adminId, chunk_id))),
      chunk_id,
    }),
  }),
];

async function open(adminId: number, call: ChunkCall): Promise<Answered<typeof opened>> {
  const { chunk_id, chunk_size, total_chunks, expires_at } = await openSession(adminId, planOf(call));
  return { chunk_id, chunk_size: chunk_size ?? config.storage.chunkMaxBytes, total_chunks, expires_at };
}

// Defaults for what the client omits; repeated values must agree.
function planOf({ filename = '', total_size, chunk_size, total_chunks, sha256 }: ChunkCall): NewSession {
  if (total_size === undefined) {
    if (total_chunks === undefined) return missing('total_size');
    return { filename, total_chunks, chunk_size, sha256 };
  }
  if (chunk_size === undefined && total_chunks !== undefined) {
    if (total_chunks > total_size || total_chunks * config.storage.chunkMaxBytes < total_size)
      fail('chunk_count_invalid', { field: 'total_chunks' });
    return { filename, total_size, total_chunks, sha256 };
  }
  const size = chunk_size ?? config.storage.chunkMaxBytes;
  const chunks = Math.ceil(total_size / size);
  if (chunks > maxChunks) fail('chunk_count_invalid', { field: 'chunk_size' });
  if (total_chunks !== undefined && total_chunks !== chunks)
    fail('chunk_count_invalid', { field: 'total_chunks' });
  return { filename, total_size, chunk_size: size, total_chunks: chunks, sha256 };
}

async function receive(
  key: SessionKey,
  call: ChunkCall,
  upload: Upload | undefined,
): Promise<Answered<typeof received>> {
  if (!upload) return missing('file');
  if (upload.size === 0) fail('file_empty', { field: 'file' });
  const { filename, total_chunks } = call;
  const isWhole = filename !== undefined && total_chunks !== undefined;
  const session = await getOrOpenSession(key, isWhole ? planOf(call) : undefined);
  assertMatchesSession(session, call);
  const { path, size } = upload;
  const chunk_index = call.chunk_index as number;
  const uploaded_count = await addChunk(session, { index: chunk_index, path, size });
  return {
    chunk_id: call.chunk_id as string,
    chunk_index,
    size,
    uploaded_count,
    total_chunks: session.total_chunks,
    progress: Math.floor((uploaded_count * 100) / session.total_chunks),
  };
}

// The row requests the merge; without the queue it runs when that is back.
async function merge(key: SessionKey, call: ChunkCall): Promise<Standing> {
  const { begun, ...standing } = await beginMerge(key, call);
  const chunkId = call.chunk_id as string;
  if (!begun) return answerOf(chunkId, standing);
  const result = await mergeChunks.enqueueAndWait(key, waitMs).catch((error: unknown) => {
    if (error instanceof QueueUnavailable) return undefined;
    throw error;
  });
  return answerOf(chunkId, result ?? (await stopWaiting(key)));
}

async function cancel(key: SessionKey, chunk_id: string): Promise<Standing> {
  await cancelSession(key);
  return { chunk_id, status: 'cancelled' };
}

async function answerOf(chunk_id: string, { status, attachment_id, error }: Merge): Promise<Standing> {
  if (status === 'merging') return { chunk_id, status };
  if (attachment_id !== null) return getAttachment(attachment_id);
  throw fileError(error ?? 'upload_failed', 'file');
}

const missing = (field: string): never => refuseField('validation_failed', field, 'any.required');
