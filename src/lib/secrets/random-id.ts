// ULIDs and tokens from the cryptographic random source of the system.
import { randomBytes } from 'node:crypto';
import { ulid } from 'ulid';

/** A ULID of that instant (milliseconds since 1970, UTC): 26 characters, the last 16 of them random. */
export function newUlid(time = Date.now()): string {
  const bytes = randomBytes(16);
  let used = 0;
  // A byte modulo 32 is evenly distributed.
  return ulid(time, () => (bytes[used++] as number) / 256);
}

/** An unguessable text of `bytes` random bytes in base64url. */
export function randomToken(bytes: number): string {
  return randomBytes(bytes).toString('base64url');
}
