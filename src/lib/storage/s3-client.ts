// The client of an S3-compatible store, with timeouts and without logging.
import { S3Client } from '@aws-sdk/client-s3';

export interface S3Settings {
  endpoint: string | undefined;
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  forcePathStyle: boolean;
  presignedDownloads: boolean;
  /** A connection without progress for this long is closed. */
  timeoutMs: number;
  /** Prefix of every key. */
  prefix: string;
}

const maxConnectMs = 3000;

// Silences the SDK's console logger; failures are thrown.
const ignore = (): void => undefined;

/** A client for the store of these settings. */
export function makeClient(settings: S3Settings): S3Client {
  const { endpoint, region, forcePathStyle, accessKeyId, secretAccessKey, timeoutMs } = settings;
  return new S3Client({
    endpoint,
    region,
    forcePathStyle,
    credentials: { accessKeyId, secretAccessKey },
    // Without these the client would wait forever.
    requestHandler: {
      connectionTimeout: Math.min(maxConnectMs, timeoutMs),
      socketTimeout: timeoutMs,
    },
    logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    // Checksums only newer servers know are sent only where required.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
}
