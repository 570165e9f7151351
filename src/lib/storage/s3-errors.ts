// Maps errors of the S3 client to storage errors.
import { S3ServiceException } from '@aws-sdk/client-s3';
import { FileMissing, StorageFull, StorageUnavailable } from './storage.js';

/**
 * Calls the store about a file.
 *
 * @throws FileMissing, StorageFull, StorageUnavailable; other errors unchanged
 */
export async function callStore<T>(key: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (isMissing(error)) throw new FileMissing(`there is no file ${key}`, { cause: error });
    if (statusOf(error) === 507) throw new StorageFull('the store is full', { cause: error });
    if (isAway(error)) throw new StorageUnavailable('the store does not answer', { cause: error });
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

/** The store did not answer, or answered with a failure of its own. */
function isAway(error: unknown): boolean {
  const status = statusOf(error);
  if (status !== undefined) return status >= 500 && status !== 501;
  const { name, code = '' } = error as { name?: string; code?: string };
  return name === 'TimeoutError' || unreachable.has(code);
}
