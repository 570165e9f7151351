// Files in an S3-compatible store. Large ones are uploaded in parts.
import { createReadStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import pLimit from 'p-limit';
import { logger } from '../watch/logger.js';
import { Digest } from './digest.js';
import { makeClient, type S3Settings } from './s3-client.js';
import { callStore, statusOf } from './s3-errors.js';
import { MultipartCopy, abortUploads, type ObjectAddress } from './s3-multipart.js';
import {
  FileMissing,
  StorageUnavailable,
  type ByteRange,
  type Composed,
  type Storage,
  type StoredPart,
} from './storage.js';

const mebibyte = 1024 * 1024;

/** Min size of all parts but the last (Amazon S3, multipart upload limits). */
const smallestPart = 5 * mebibyte;
/** 10,000 parts of this size hold 78 GiB; each upload buffers about three. */
const partSize = 8 * mebibyte;
const partsAtOnce = 2;
const presignedSeconds = 300;
const copiesAtOnce = 4;
/** Max bytes of one request (Amazon S3). */
const maxPiece = 5 * 1024 * mebibyte;
const maxTries = 3;
const readBytes = 256 * 1024;

export class S3Storage implements Storage {
  readonly #client: S3Client;
  readonly #settings: S3Settings;
  /** Not every S3-compatible server can. */
  #canCopyParts = true;
  downloadUrl?: (key: string, disposition: string, type: string) => Promise<string>;

  constructor(settings: S3Settings) {
    this.#settings = settings;
    this.#client = makeClient(settings);
    if (settings.presignedDownloads) this.downloadUrl = (...given) => this.#sign(...given);
  }

  async put(key: string, content: Readable): Promise<number> {
    let size = 0;
    await this.#upload(
      key,
      observed(content, (bytes) => {
        size += bytes.length;
      }),
    );
    return size;
  }

  async putFile(key: string, path: string): Promise<void> {
    const { size } = await stat(path);
    if (size > maxPiece) await this.#upload(key, createReadStream(path, { highWaterMark: mebibyte }));
    else await this.#sendWhole(key, path, size);
    await rm(path, { force: true });
  }

  async get(key: string, range?: ByteRange): Promise<Readable> {
    const Range = range && `bytes=${range.start}-${range.end}`;
    const command = new GetObjectCommand({ ...this.#place(key), Range });
    const { Body } = await callStore(key, () => this.#client.send(command));
    return Body as Readable;
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

  async compose(key: string, parts: readonly StoredPart[], signal: AbortSignal): Promise<Composed> {
    const fit = parts.length > 1 && parts.slice(0, -1).every(({ size }) => size >= smallestPart);
    if (fit && this.#canCopyParts) {
      const composed = await callStore(key, () => this.#copyTogether(key, parts, signal));
      if (composed) return composed;
    }
    const digest = new Digest();
    const content = observed(this.#contentOf(parts, signal), (bytes) => digest.add(bytes));
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

  async sweep(before: Date, folders: readonly string[]): Promise<void> {
    const { bucket, prefix } = this.#settings;
    for (const folder of folders) {
      const uploads = { bucket, prefix: `${prefix}${folder}/`, before };
      await callStore(folder, () => abortUploads(this.#client, uploads));
    }
  }

  // The store composes the parts while the digest is read from them here.
  async #copyTogether(
    key: string,
    parts: readonly StoredPart[],
    signal: AbortSignal,
  ): Promise<Composed | undefined> {
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    const copy = await MultipartCopy.begin(this.#client, this.#place(key), either);
    const sources = parts.map((part) => this.#place(part.key));
    const atOnce = pLimit(copiesAtOnce);
    const digest = new Digest();
    const read = async (): Promise<void> => {
      for await (const bytes of this.#contentOf(parts, either)) digest.add(bytes);
    };
    try {
      // One first: a server that cannot copy says so before anything is read.
      await copy.copy(sources[0] as ObjectAddress, 0);
      await Promise.all([
        read(),
        ...sources.slice(1).map((source, index) => atOnce(() => copy.copy(source, index + 1))),
      ]);
      await copy.complete();
      return digest.result();
    } catch (error) {
      atOnce.clearQueue();
      failed.abort(error);
      await copy.abandon();
      if (statusOf(error) !== 501) throw error;
      logger.info('the store cannot copy parts; merged files pass through the worker');
      this.#canCopyParts = false;
      return undefined;
    }
  }

  async *#contentOf(parts: readonly StoredPart[], signal: AbortSignal): AsyncGenerator<Buffer> {
    for (const { key } of parts) {
      for await (const bytes of await this.get(key)) {
        signal.throwIfAborted();
        yield bytes as Buffer;
      }
    }
  }

  // In one request, without a copy in memory; the client resends only what it holds.
  async #sendWhole(key: string, path: string, size: number): Promise<void> {
    for (let tries = 1; ; tries++) {
      const Body = createReadStream(path, { highWaterMark: readBytes });
      const command = new PutObjectCommand({ ...this.#place(key), Body, ContentLength: size });
      try {
        await callStore(key, () => this.#client.send(command));
        return;
      } catch (error) {
        if (tries === maxTries || !(error instanceof StorageUnavailable)) throw error;
        await sleep(Math.random() * 100 * 2 ** tries);
      } finally {
        Body.destroy();
      }
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

  #place(key: string): ObjectAddress {
    return { Bucket: this.#settings.bucket, Key: this.#settings.prefix + key };
  }
}

async function* observed(
  content: AsyncIterable<unknown>,
  onBytes: (bytes: Buffer) => void,
): AsyncGenerator<Buffer> {
  for await (const piece of content) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : (piece as Buffer);
    onBytes(bytes);
    yield bytes;
  }
}
