// Reads a multipart body: its fields, and its file straight to the disk, within their limits while they arrive.
import { createHash, type Hash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Context } from 'koa';
import { AppError, fail } from '../../lib/errors.js';
import { FileWriter } from '../../lib/file-writer.js';
import { boundaryOf, MultipartInvalid, MultipartParser, type Part } from '../../lib/multipart.js';
import { randomToken } from '../../lib/random-id.js';
import { isDiskFull } from '../../lib/storage/local.js';
import { problem } from '../../lib/validation.js';
import { allowUpload } from '../arrival.js';
import { incomingFolder } from '../incoming.js';
import type { Upload, UploadDeclaration } from '../route.js';

export interface ReceivedForm {
  fields: Record<string, unknown>;
  upload?: Upload;
}

const mostParts = 40;
const mostFieldBytes = 64 * 1024;
/** What the heads of parts and their delimiters may take beside the file and the fields. */
const overheadBytes = 512 * 1024;
const blockBytes = 512 * 1024;

/**
 * Receives the form. Whatever goes wrong, nothing of the file remains.
 *
 * @throws payload_too_large, bad_request, validation_failed, storage_full
 */
export async function receiveForm(ctx: Context, declaration: UploadDeclaration): Promise<ReceivedForm> {
  const { req, res } = ctx;
  const most = declaration.maxBytes + mostFieldBytes + overheadBytes;
  if (Number(req.headers['content-length'] ?? 0) > most) fail('payload_too_large');
  if ((req.headers['content-encoding'] ?? 'identity') !== 'identity') fail('bad_request');
  allowUpload(req, res);
  const form = new Form(declaration);
  try {
    const parser = new MultipartParser(boundaryOf(req.headers['content-type'] as string));
    await read(req, parser, form);
    return await form.finish();
  } catch (error) {
    await form.abandon();
    throw outcomeOf(error, req);
  }
}

async function read(request: IncomingMessage, parser: MultipartParser, form: Form): Promise<void> {
  // Leaving early must not destroy the connection: the client still gets its answer over it.
  const body = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  for await (const bytes of body) {
    for (const event of parser.feed(bytes)) {
      if (event.kind === 'part') await form.begin(event.part);
      else if (event.kind === 'data') await form.take(event.bytes);
      else form.endPart();
    }
  }
  parser.end();
}

function outcomeOf(error: unknown, request: IncomingMessage): unknown {
  if (isDiskFull(error)) return new AppError('storage_full', { cause: error });
  // A client that went away or was cut off gets no answer; it is not a fault of ours either.
  if (error instanceof MultipartInvalid || (request.destroyed && !request.complete))
    return new AppError('bad_request', { cause: error });
  return error;
}

class Form {
  readonly #declaration: UploadDeclaration;
  readonly #fields = new Map<string, unknown>();
  #parts = 0;
  #fieldBytes = 0;
  #name = '';
  /** The field being read; undefined in a file. */
  #value: Buffer[] | undefined;
  #file: Spool | undefined;
  #current: Spool | undefined;

  constructor(declaration: UploadDeclaration) {
    this.#declaration = declaration;
  }

  async begin({ name, filename }: Part): Promise<void> {
    if (++this.#parts > mostParts) fail('payload_too_large');
    this.#count(name.length);
    this.#name = name;
    this.#value = filename === undefined ? [] : undefined;
    // A browser sends a file input that was left empty as a file without a name.
    if (!filename || !this.#declaration.parts.includes(name)) return;
    if (this.#file) fail('validation_failed', { fields: { [this.#part]: [problem('file.single')] } });
    this.#file = new Spool(filename, this.#declaration.digest === true);
    this.#current = this.#file;
    await this.#file.open();
  }

  async take(bytes: Buffer): Promise<void> {
    if (this.#current) {
      if (this.#current.size + bytes.length > this.#declaration.maxBytes) fail('payload_too_large');
      await this.#current.write(bytes);
      return;
    }
    // A file under another name is nothing that was asked for.
    this.#count(bytes.length);
    this.#value?.push(bytes);
  }

  endPart(): void {
    this.#current = undefined;
    if (!this.#value) return;
    const text = Buffer.concat(this.#value).toString();
    const known = this.#fields.get(this.#name);
    this.#fields.set(this.#name, known === undefined ? text : [known, text].flat());
  }

  async finish(): Promise<ReceivedForm> {
    const upload = await this.#file?.finish();
    if (!upload && this.#declaration.required)
      fail('validation_failed', { fields: { [this.#part]: [problem('any.required')] } });
    return { fields: Object.fromEntries(this.#fields), upload };
  }

  async abandon(): Promise<void> {
    await this.#file?.abandon();
  }

  get #part(): string {
    return this.#declaration.parts[0];
  }

  #count(bytes: number): void {
    this.#fieldBytes += bytes;
    if (this.#fieldBytes > mostFieldBytes) fail('payload_too_large');
  }
}

/** A file on its way to the disk. */
class Spool {
  readonly path = join(incomingFolder, randomToken(12));
  readonly #filename: string;
  readonly #hash: Hash | undefined;
  #writer: FileWriter | undefined;
  #isOpen = false;

  constructor(filename: string, digest: boolean) {
    this.#filename = filename;
    this.#hash = digest ? createHash('sha256') : undefined;
  }

  get size(): number {
    return this.#writer?.size ?? 0;
  }

  async open(): Promise<void> {
    await mkdir(incomingFolder, { recursive: true });
    this.#writer = await FileWriter.create(this.path, blockBytes);
    this.#isOpen = true;
  }

  async write(bytes: Buffer): Promise<void> {
    this.#hash?.update(bytes);
    await this.#writer?.write(bytes);
  }

  async finish(): Promise<Upload> {
    await this.#writer?.end();
    await this.#close();
    return { path: this.path, size: this.size, filename: this.#filename, sha256: this.#hash?.digest('hex') };
  }

  async abandon(): Promise<void> {
    await this.#close();
    await rm(this.path, { force: true });
  }

  async #close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#writer?.close();
  }
}
