// Files in an S3-compatible store. Large ones are uploaded in parts.
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListObjectsV2Command,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { withTimeout } from '../process/timers.js';
import { logger } from '../watch/logger.js';
import { makeClient, type S3Settings } from './s3-client.js';
import {
  type ByteRange,
  type Composed,
  contentOf,
  Digest,
  FileMissing,
  observed,
  type Storage,
  StorageFull,
  StorageUnavailable,
} from './storage.js';

const mebibyte = 1024 * 1024;

/** 10,000 parts of this size hold 78 GiB; each upload buffers about three. */
const partSize = 8 * mebibyte;
const partsAtOnce = 2;
const presignedSeconds = 300;
const readBytes = 256 * 1024;

export class S3Storage implements Storage {
  readonly #client: S3Client;
  readonly #reading: S3Client;
  readonly #settings: S3Settings;
  downloadUrl?: (key: string, disposition: string, type: string) => Promise<string>;

  constructor(settings: S3Settings) {
    this.#settings = settings;
    this.#client = makeClient(settings);
    this.#reading = makeClient(settings, true);
    if (settings.presignedDownloads) this.downloadUrl = (...given) => this.#sign(...given);
  }

  async put(key: string, content: Readable): Promise<number> {
    let size = 0;
    await this.#upload(
      key,
      observed(content, (bytes) => (size += bytes.length)),
    );
    return size;
  }

  async putFile(key: string, path: string): Promise<void> {
    await this.#upload(key, createReadStream(path, { highWaterMark: readBytes }));
    await rm(path, { force: true });
  }

  async get(key: string, range?: ByteRange): Promise<Readable> {
    const Range = range && `bytes=${range.start}-${range.end}`;
    const command = new GetObjectCommand({ ...this.#place(key), Range });
    const { Body } = await callStore(key, () => this.#reading.send(command));
    return inTime(Body as Readable, this.#settings.timeoutMs);
  }

  async stat(key: string): Promise<{ size: number } | undefined> {
    try {
      const command = new HeadObjectCommand(this.#place(key));
      const { ContentLength } = await callStore(key, () => this.#client.send(command));
      return { size: ContentLength as number };
    } catch (error) {
      if (error instanceof FileMissing) return undefined;
      throw error;
    }
  }

  async remove(key: string): Promise<void> {
    await callStore(key, () => this.#client.send(new DeleteObjectCommand(this.#place(key))));
  }

  async compose(key: string, parts: readonly string[], signal: AbortSignal): Promise<Composed> {
    const digest = new Digest();
    const content = observed(contentOf(this, parts, signal), (bytes) => digest.add(bytes));
    await this.#upload(key, content, signal);
    return digest.result();
  }

  async *keys(folders: readonly string[]): AsyncGenerator<string> {
    const { bucket, prefix } = this.#settings;
    for (const folder of folders) {
      for (let token: string | undefined, isMore = true; isMore; isMore = token !== undefined) {
        const asked = { Bucket: bucket, Prefix: `${prefix}${folder}/`, ContinuationToken: token };
        const page = await callStore(folder, () => this.#client.send(new ListObjectsV2Command(asked)));
        for (const { Key = '' } of page.Contents ?? []) yield Key.slice(prefix.length);
        token = page.NextContinuationToken;
      }
    }
  }

  // Until then the store keeps the parts of an upload that was broken off.
  async sweep(before: Date, folders: readonly string[]): Promise<void> {
    for (const folder of folders) await callStore(folder, () => this.#abortUploads(before, folder));
  }

  async #abortUploads(before: Date, folder: string): Promise<void> {
    const { bucket: Bucket, prefix } = this.#settings;
    let markers: Pick<ListMultipartUploadsCommandOutput, 'NextKeyMarker' | 'NextUploadIdMarker'> = {};
    for (let isLast = false; !isLast;) {
      const page: ListMultipartUploadsCommandOutput = await this.#client.send(
        new ListMultipartUploadsCommand({
          Bucket,
          Prefix: `${prefix}${folder}/`,
          KeyMarker: markers.NextKeyMarker,
          UploadIdMarker: markers.NextUploadIdMarker,
        }),
      );
      for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
        if (Key === undefined || Initiated === undefined || Initiated >= before) continue;
        await this.#client
          .send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }))
          .catch((error: unknown) =>
            logger.warn({ error, storage_key: Key }, 'aborting an upload failed; the next sweep will retry'),
          );
      }
      isLast = page.IsTruncated !== true;
      markers = page;
    }
  }

  async #upload(key: string, content: AsyncIterable<unknown>, signal?: AbortSignal): Promise<void> {
    const Body = content instanceof Readable ? content : Readable.from(content);
    const params = { ...this.#place(key), Body };
    const upload = new Upload({ client: this.#client, params, partSize, queueSize: partsAtOnce });
    const abort = (): void => void upload.abort();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      await callStore(key, () => upload.done());
    } finally {
      signal?.removeEventListener('abort', abort);
      Body.destroy();
    }
  }

  #sign(key: string, disposition: string, type: string): Promise<string> {
    const command = new GetObjectCommand({
      ...this.#place(key),
      ResponseContentDisposition: disposition,
      ResponseContentType: type,
    });
    return getSignedUrl(this.#client, command, { expiresIn: presignedSeconds });
  }

  #place(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#settings.bucket, Key: this.#settings.prefix + key };
  }
}

/** Fails when the store is silent for that long while its reader waits; a reader may be slower. */
function inTime(content: Readable, timeoutMs: number): Readable {
  const pieces = content[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const silent = () => new StorageUnavailable('the store does not answer');
  async function* read() {
    for (;;) {
      const piece = await withTimeout(pieces.next(), timeoutMs, (_, reject) => reject(silent()));
      if (piece.done) return;
      yield piece.value;
    }
  }
  return Readable.from(read(), { objectMode: false }).once('close', () => content.destroy());
}

/** Calls the store about a file. @throws FileMissing, StorageFull, StorageUnavailable; other errors unchanged */
async function callStore<T>(key: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (isMissing(error)) throw new FileMissing(`there is no file ${key}`, { cause: error });
    if (statusOf(error) === 507) throw new StorageFull('the store is full', { cause: error });
    // A wrong key, a missing bucket, too many requests or a failure of its own: the operator can mend it.
    if (error instanceof S3ServiceException)
      throw new StorageUnavailable(`the store answers ${error.name}`, { cause: error });
    if (isUnreachable(error)) throw new StorageUnavailable('the store does not answer', { cause: error });
    throw error;
  }
}

/** HTTP status of the store's answer, if any. */
const statusOf = (error: unknown): number | undefined =>
  error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;

// A missing bucket says nothing about the file.
const isMissing = (error: unknown): boolean =>
  statusOf(error) === 404 && (error as S3ServiceException).name !== 'NoSuchBucket';

const unreachable = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

function isUnreachable(error: unknown): boolean {
  const { name, code = '' } = error as { name?: string; code?: string };
  return name === 'TimeoutError' || unreachable.has(code);
}
