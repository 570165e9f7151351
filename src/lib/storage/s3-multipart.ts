// Multipart uploads of S3: an object put together by the store itself, and what uploads that never ended left there.
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  UploadPartCopyCommand,
  type CompletedPart,
  type ListMultipartUploadsCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { logger } from '../logger.js';

/** Where an object lies. */
export interface Place {
  Bucket: string;
  Key: string;
}

/** An object that becomes whole from copies of others, or does not appear. */
export class MultipartCopy {
  readonly #client: S3Client;
  readonly #upload: Place & { UploadId: string | undefined };
  readonly #parts: CompletedPart[] = [];
  readonly #options: { abortSignal: AbortSignal };

  private constructor(client: S3Client, place: Place, id: string | undefined, abortSignal: AbortSignal) {
    this.#client = client;
    this.#upload = { ...place, UploadId: id };
    this.#options = { abortSignal };
  }

  static async begin(client: S3Client, place: Place, signal: AbortSignal): Promise<MultipartCopy> {
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(place), { abortSignal: signal });
    return new MultipartCopy(client, place, UploadId, signal);
  }

  /** @param index from 0 @param source all but the last have 5 MiB or more */
  async copy(source: Place, index: number): Promise<void> {
    const command = new UploadPartCopyCommand({
      ...this.#upload,
      PartNumber: index + 1,
      CopySource: `${source.Bucket}/${source.Key}`,
    });
    const { CopyPartResult } = await this.#client.send(command, this.#options);
    this.#parts[index] = { PartNumber: index + 1, ETag: CopyPartResult?.ETag };
  }

  async complete(): Promise<void> {
    const MultipartUpload = { Parts: this.#parts };
    await this.#client.send(
      new CompleteMultipartUploadCommand({ ...this.#upload, MultipartUpload }),
      this.#options,
    );
  }

  /** The copies go; if they cannot now, the sweep takes them. */
  async abandon(): Promise<void> {
    await abort(this.#client, this.#upload);
  }
}

/** Ends uploads below that prefix that were begun before that instant; until then the store keeps their parts. */
export async function abortUploads(
  client: S3Client,
  { bucket, prefix, before }: { bucket: string; prefix: string; before: Date },
): Promise<void> {
  let markers: Pick<ListMultipartUploadsCommandOutput, 'NextKeyMarker' | 'NextUploadIdMarker'> = {};
  for (let isLast = false; !isLast;) {
    const page: ListMultipartUploadsCommandOutput = await client.send(
      new ListMultipartUploadsCommand({
        Bucket: bucket,
        Prefix: prefix,
        KeyMarker: markers.NextKeyMarker,
        UploadIdMarker: markers.NextUploadIdMarker,
      }),
    );
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (Key === undefined || Initiated === undefined || Initiated >= before) continue;
      await abort(client, { Bucket: bucket, Key, UploadId });
    }
    isLast = page.IsTruncated !== true;
    markers = page;
  }
}

async function abort(client: S3Client, upload: Place & { UploadId: string | undefined }): Promise<void> {
  await client
    .send(new AbortMultipartUploadCommand(upload))
    .catch((error: unknown) =>
      logger.warn({ error, key: upload.Key }, 'parts of an upload stay in the store until the next sweep'),
    );
}
