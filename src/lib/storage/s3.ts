// Files in an S3-compatible store. Large ones are sent in parts, which become one object when all are there.
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  S3Client,
  S3ServiceException,
  UploadPartCopyCommand,
  type CompletedPart,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import pLimit from 'p-limit';
import { logger } from '../logger.js';
import {
  FileMissing,
  StorageFull,
  type ByteRange,
  type Composed,
  type Storage,
  type StoredPart,
} from './storage.js';

export interface S3Settings {
  endpoint: string | undefined;
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  forcePathStyle: boolean;
  presignedDownloads: boolean;
  /** In front of every key. */
  prefix: string;
}

const mebibyte = 1024 * 1024;

/** All parts but the last must have this size (Amazon S3, multipart upload limits). */
const smallestPart = 5 * mebibyte;
/** 10,000 parts of it hold 156 GiB; some four of them are in memory at once. */
const partSize = 16 * mebibyte;
const presignedSeconds = 300;
const copiesAtOnce = 4;

export class S3Storage implements Storage {
  readonly #client: S3Client;
  readonly #settings: S3Settings;
  /** Not every S3-compatible server can. */
  #canCopyParts = true;
  downloadUrl?: (key: string, disposition: string, type: string) => Promise<string>;

  constructor(settings: S3Settings) {
    const { endpoint, region, forcePathStyle, accessKeyId, secretAccessKey } = settings;
    this.#settings = settings;
    this.#client = new S3Client({
      ...{ endpoint, region, forcePathStyle, credentials: { accessKeyId, secretAccessKey } },
      // Checksums that only newer servers know are left out unless an operation demands one.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
    if (settings.presignedDownloads) this.downloadUrl = (...given) => this.#sign(...given);
  }

  async put(key: string, content: Readable): Promise<number> {
    let size = 0;
    await this.#upload(
      key,
      Readable.from(
        observed(content, (bytes) => {
          size += bytes.length;
        }),
      ),
    );
    return size;
  }

  async putFile(key: string, path: string): Promise<void> {
    await this.#upload(key, createReadStream(path, { highWaterMark: mebibyte }));
    await rm(path, { force: true });
  }

  async get(key: string, range?: ByteRange): Promise<Readable> {
    const Range = range && `bytes=${range.start}-${range.end}`;
    const { Body } = await this.#found(
      key,
      this.#client.send(new GetObjectCommand({ ...this.#place(key), Range })),
    );
    return Body as Readable;
  }

  async stat(key: string): Promise<{ size: number } | undefined> {
    try {
      const { ContentLength } = await this.#client.send(new HeadObjectCommand(this.#place(key)));
      return { size: ContentLength as number };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async remove(key: string): Promise<void> {
    await this.#client.send(new DeleteObjectCommand(this.#place(key)));
  }

  async compose(key: string, parts: readonly StoredPart[], signal: AbortSignal): Promise<Composed> {
    const fit = parts.length > 1 && parts.slice(0, -1).every(({ size }) => size >= smallestPart);
    if (fit && this.#canCopyParts) {
      const composed = await this.#copyTogether(key, parts, signal);
      if (composed) return composed;
    }
    const hash = createHash('sha256');
    let size = 0;
    const content = observed(this.#contentOf(parts, signal), (bytes) => {
      hash.update(bytes);
      size += bytes.length;
    });
    await this.#upload(key, Readable.from(content), signal);
    return { size, sha256: hash.digest('hex') };
  }

  // The store puts the parts together by itself, while the digest is read from them here.
  async #copyTogether(
    key: string,
    parts: readonly StoredPart[],
    signal: AbortSignal,
  ): Promise<Composed | undefined> {
    const place = this.#place(key);
    const options = { abortSignal: signal };
    const { UploadId } = await this.#client.send(new CreateMultipartUploadCommand(place), options);
    const atOnce = pLimit(copiesAtOnce);
    const copy = async (part: StoredPart, index: number): Promise<CompletedPart> => {
      const source = this.#place(part.key);
      const command = new UploadPartCopyCommand({
        ...{ ...place, UploadId, PartNumber: index + 1 },
        CopySource: `${source.Bucket}/${source.Key}`,
      });
      const { CopyPartResult } = await this.#client.send(command, options);
      return { PartNumber: index + 1, ETag: CopyPartResult?.ETag };
    };
    try {
      // One first: a server that cannot do it says so before anything is read.
      const first = await copy(parts[0] as StoredPart, 0);
      const hash = createHash('sha256');
      const [size, rest] = await Promise.all([
        this.#digest(hash, parts, signal),
        Promise.all(parts.slice(1).map((part, index) => atOnce(copy, part, index + 1))),
      ]);
      const MultipartUpload = { Parts: [first, ...rest] };
      await this.#client.send(
        new CompleteMultipartUploadCommand({ ...place, UploadId, MultipartUpload }),
        options,
      );
      return { size, sha256: hash.digest('hex') };
    } catch (error) {
      atOnce.clearQueue();
      await this.#client
        .send(new AbortMultipartUploadCommand({ ...place, UploadId }))
        .catch((reason: unknown) =>
          logger.warn({ error: reason, key }, 'parts of an upload stay in the store'),
        );
      if (!(error instanceof S3ServiceException && error.name === 'NotImplemented')) throw error;
      logger.info('the store cannot copy parts; merged files pass through the worker');
      this.#canCopyParts = false;
      return undefined;
    }
  }

  async #digest(hash: Hash, parts: readonly StoredPart[], signal: AbortSignal): Promise<number> {
    let size = 0;
    for await (const bytes of this.#contentOf(parts, signal)) {
      hash.update(bytes);
      size += bytes.length;
    }
    return size;
  }

  async *#contentOf(parts: readonly StoredPart[], signal: AbortSignal): AsyncGenerator<Buffer> {
    for (const { key } of parts) {
      for await (const bytes of await this.get(key)) {
        signal.throwIfAborted();
        yield bytes as Buffer;
      }
    }
  }

  async #upload(key: string, Body: Readable, signal?: AbortSignal): Promise<void> {
    const params = { ...this.#place(key), Body };
    const upload = new Upload({ client: this.#client, params, partSize, queueSize: 3 });
    const abort = (): void => void upload.abort();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      await upload.done();
    } catch (error) {
      throw statusOf(error) === 507 ? new StorageFull('the store is full', { cause: error }) : error;
    } finally {
      signal?.removeEventListener('abort', abort);
      Body.destroy();
    }
  }

  async #found<T>(key: string, answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (isMissing(error)) throw new FileMissing(`there is no file ${key}`, { cause: error });
      throw error;
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

const statusOf = (error: unknown): number | undefined =>
  error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;

const isMissing = (error: unknown): boolean => statusOf(error) === 404;

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
