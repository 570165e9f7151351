// Multipart uploads of S3: composing an object in the store, and cleaning up unfinished uploads.
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
import { logger } from '../watch/logger.js';

/** Location of an object. */
export interface ObjectAddress {
  Bucket: string;
  Key: string;
}

/** An object composed of copies of others; it appears complete or not at all. */
export class MultipartCopy {
  readonly #client: S3Client;
  readonly #upload: ObjectAddress & { UploadId: string | undefined };
  readonly #parts: CompletedPart[] = [];
  readonly #options: { abortSignal: AbortSignal };

  private constructor(
    client: S3Client,
    place: ObjectAddress,
    id: string | undefined,
    abortSignal: AbortSignal,
  ) {
    this.#client = client;
    this.#upload = { ...place, UploadId: id };
    this.#options = { abortSignal };
  }

  static async begin(client: S3Client, place: ObjectAddress, signal: AbortSignal): Promise<MultipartCopy> {
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(place), { abortSignal: signal });
    return new MultipartCopy(client, place, UploadId, signal);
  }

  /**
   * @param index from 0
   * @param source at least 5 MiB except for the last
   */
  async copy(source: ObjectAddress, index: number): Promise<void> {
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

  /** Aborts the upload; the sweep retries if that fails. */
  async abandon(): Promise<void> {
    await abort(this.#client, this.#upload);
  }
}

/** Aborts uploads below that prefix started before that instant; the store keeps their parts until then. */
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

async function abort(
  client: S3Client,
  upload: ObjectAddress & { UploadId: string | undefined },
): Promise<void> {
  await client
    .send(new AbortMultipartUploadCommand(upload))
    .catch((error: unknown) =>
      logger.warn({ error, key: upload.Key }, 'aborting an upload failed; the sweep will remove its parts'),
    );
}
