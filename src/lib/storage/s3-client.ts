// The client of an S3-compatible store, with timeouts and without logging.
import { S3Client } from '@aws-sdk/client-s3';
import type { config } from '../../../config/index.js';

export type S3Settings = typeof config.storage.s3;

const maxConnectMs = 3000;

// Silences the SDK's console logger; failures are thrown.
const ignore = (): void => undefined;

/**
 * A client for the store of these settings.
 *
 * @param forReading its content may be read as slowly as its reader likes: only the beginning of an answer
 * has a timeout
 */
export function makeClient(settings: S3Settings, forReading = false): S3Client {
  const { endpoint, region, forcePathStyle, accessKeyId, secretAccessKey, timeoutMs } = settings;
  return new S3Client({
    endpoint,
    region,
    forcePathStyle,
    credentials: { accessKeyId, secretAccessKey },
    // Without these the client would wait forever.
    requestHandler: {
      connectionTimeout: Math.min(maxConnectMs, timeoutMs),
      ...(forReading
        ? { socketTimeout: 0, requestTimeout: timeoutMs, throwOnRequestTimeout: true }
        : { socketTimeout: timeoutMs }),
      // The 50 of the SDK would be used up by as many downloads of slow readers.
      httpAgent: { maxSockets: Infinity },
      httpsAgent: { maxSockets: Infinity },
    },
    logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    // Checksums only newer servers know are sent only where required.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
}
