// Reads a multipart body: fields, and its file directly to the disk, within limits while it arrives.
import { createHash, type Hash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import type { Context } from 'koa';
import { config } from '../../../../config/index.js';
import { AppError, fail } from '../../../lib/errors/app-error.js';
import { privateFolder, removeOldFiles } from '../../../lib/files/folder.js';
import { randomToken } from '../../../lib/secrets/random-id.js';
import { isDiskFull } from '../../../lib/storage/local.js';
import { problem, refuseField } from '../../../lib/input/validation.js';
import { logger } from '../../../lib/watch/logger.js';
import type { Upload, UploadDeclaration } from '../../declare/route.js';

/** Uploads of this machine during their request. */
const uploadFolder = join(config.storage.root, 'incoming');

interface ReceivedForm {
  fields: Record<string, unknown>;
  upload?: Upload;
}

const maxParts = 40;
const maxFieldBytes = 64 * 1024;
/** Bytes for part headers and boundaries, besides the file and the fields. */
const overheadBytes = 512 * 1024;

/**
 * Receives the form. On any failure the file is removed.
 *
 * @throws payload_too_large, bad_request, validation_failed, storage_full, upload_failed
 */
export async function receiveForm(ctx: Context, declaration: UploadDeclaration): Promise<ReceivedForm> {
  const { req } = ctx;
  const maxBytes = declaration.maxBytes + maxFieldBytes + overheadBytes;
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw fileTooLarge(declaration);
  const form = new Form(declaration);
  try {
    await mkdir(uploadFolder, { recursive: true, mode: privateFolder });
    await read(req, form, declaration);
    return await form.finish();
  } catch (error) {
    await form.abandon();
    throw outcomeOf(error, req);
  }
}

// Not pipeline(), which would destroy the connection of a refused form before its answer.
function read(request: IncomingMessage, form: Form, declaration: UploadDeclaration): Promise<void> {
  const parser = parserFor(request, declaration.maxBytes);
  return new Promise<void>((resolve, reject) => {
    const stop = (error: Error): void => {
      request.unpipe(parser);
      parser.destroy();
      reject(error);
    };
    parser.on('field', (name: string | undefined, value, _, isTruncated) => {
      // RFC 7578, 4.2: a part has a name.
      if (name === undefined) stop(new AppError('bad_request'));
      else if (!form.addField(name, value) || isTruncated) stop(new AppError('payload_too_large'));
    });
    parser.on('file', (name, content, filename, encoding) => {
      // RFC 7578, 4.7: parts are not encoded; an encoded one is stored as received.
      if (/^(base64|quoted-printable)$/i.test(encoding)) stop(new AppError('bad_request'));
      content.once('limit', () => stop(fileTooLarge(declaration)));
      form.addFile(name, content, unescaped(filename)).catch(stop);
    });
    parser.once('partsLimit', () => stop(new AppError('payload_too_large')));
    parser.once('error', (error) => stop(new AppError('bad_request', { cause: error })));
    parser.once('finish', resolve);
    request.once('close', () => request.complete || stop(new AppError('bad_request')));
    request.pipe(parser);
  });
}

function fileTooLarge({ parts, maxBytes }: UploadDeclaration): AppError {
  const megabytes = Math.round((maxBytes / 1024 ** 2) * 100) / 100;
  return new AppError('payload_too_large', { fields: { [parts[0]]: [problem('file.max', megabytes)] } });
}

/** @throws validation_failed */
export function fileMissing({ parts }: UploadDeclaration): never {
  return refuseField('validation_failed', parts[0], 'any.required');
}

function parserFor({ headers }: IncomingMessage, maxBytes: number): BusboyInstance {
  try {
    return new Busboy({
      headers: headers as BusboyHeaders,
      // Browsers send an empty file input as a file without a name.
      isPartAFile: (_name, _type, filename) => filename !== undefined,
      preservePath: true,
      limits: { parts: maxParts, fieldSize: maxFieldBytes, fileSize: maxBytes, headerPairs: 20 },
    });
  } catch (error) {
    throw new AppError('bad_request', { cause: error });
  }
}

// Browsers escape a quote and line ends in names as %22, %0D and %0A (WHATWG HTML, multipart/form-data).
function unescaped(filename: string): string {
  return filename.replace(/%22/g, '"').replace(/%0d/gi, '\r').replace(/%0a/gi, '\n');
}

function outcomeOf(error: unknown, request: IncomingMessage): unknown {
  if (isDiskFull(error)) return new AppError('storage_full', { cause: error });
  // An aborted client gets no answer and is no server error.
  if (request.destroyed && !request.complete) return new AppError('bad_request', { cause: error });
  // The disk refuses: read-only, or no permission.
  const isOfSystem = error instanceof Error && 'syscall' in error;
  return isOfSystem ? new AppError('upload_failed', { cause: error }) : error;
}

class Form {
  readonly #declaration: UploadDeclaration;
  readonly #fields = new Map<string, unknown>();
  readonly #path = join(uploadFolder, randomToken(12));
  readonly #hash: Hash | undefined;
  readonly #abandoned = new AbortController();
  #fieldBytes = 0;
  #files = 0;
  #filename = '';
  #size = 0;
  #written: Promise<void> | undefined;

  constructor(declaration: UploadDeclaration) {
    this.#declaration = declaration;
    if (declaration.digest) this.#hash = createHash('sha256');
  }

  /** @returns false when the fields are too large in total */
  addField(name: string, value: string): boolean {
    this.#fieldBytes += Buffer.byteLength(name) + Buffer.byteLength(value);
    const known = this.#fields.get(name);
    this.#fields.set(name, known === undefined ? value : [known, value].flat());
    return this.#fieldBytes <= maxFieldBytes;
  }

  /** Writes the file; undeclared parts are drained. @throws payload_too_large, write errors */
  async addFile(name: string, content: Readable, filename: string): Promise<void> {
    const isWanted = filename !== '' && this.#declaration.parts.includes(name);
    if (isWanted) this.#files++;
    if (!isWanted || this.#files > 1) return this.#forget(content);
    this.#filename = filename;
    this.#written = this.#write(content);
    await this.#written;
  }

  async #write(content: Readable): Promise<void> {
    // An aborted form also stops the parser, which ends its parts with an error of its own.
    content.on('error', () => undefined);
    content.on('data', (bytes: Buffer) => {
      this.#size += bytes.length;
      this.#hash?.update(bytes);
    });
    const file = createWriteStream(this.#path, { flags: 'wx', mode: 0o600 });
    await pipeline(content, file, { signal: this.#abandoned.signal });
  }

  async #forget(content: Readable): Promise<void> {
    for await (const bytes of content as AsyncIterable<Buffer>) {
      this.#fieldBytes += bytes.length;
      if (this.#fieldBytes > maxFieldBytes) fail('payload_too_large');
    }
  }

  async finish(): Promise<ReceivedForm> {
    const { parts, required } = this.#declaration;
    if (this.#files > 1) refuseField('validation_failed', parts[0], 'file.single');
    await this.#written;
    const fields = Object.fromEntries(this.#fields);
    if (this.#files === 0) return required ? fileMissing(this.#declaration) : { fields };
    const sha256 = this.#hash?.digest('hex');
    return { fields, upload: { path: this.#path, size: this.#size, filename: this.#filename, sha256 } };
  }

  async abandon(): Promise<void> {
    this.#abandoned.abort();
    await this.#written?.catch(() => undefined);
    if (this.#written) await rm(this.#path, { force: true });
  }
}

const hourMs = 3_600_000;

/** Removes the remains of dead processes, now and every hour. @returns a function that stops it */
export function cleanUploadFolder(): () => void {
  const clean = (): void => {
    // Twice the upload timeout, and an hour for the work that follows.
    const before = new Date(Date.now() - 2 * config.storage.uploadTimeoutMs - hourMs);
    removeOldFiles(uploadFolder, before).then(
      (removed) => removed > 0 && logger.info({ removed }, 'abandoned uploads were removed'),
      (error: unknown) => logger.warn({ error }, 'removing abandoned uploads failed'),
    );
  };
  clean();
  const timer = setInterval(clean, hourMs);
  return () => clearInterval(timer);
}
