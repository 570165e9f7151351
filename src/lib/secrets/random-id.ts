// ULIDs and tokens from the cryptographic random source of the system.
import { randomBytes, randomFillSync } from 'node:crypto';
import { ulid } from 'ulid';

const pool = Buffer.alloc(4096);
let used = pool.length;

/** A ULID of that instant (milliseconds since 1970, UTC): 26 characters, the last 16 of them random. */
export function newUlid(time = Date.now()): string {
  return ulid(time, randomFraction);
}

/** An unguessable text of `bytes` random bytes in base64url. */
export function randomToken(bytes = 24): string {
  return randomBytes(bytes).toString('base64url');
}

// One system call serves 256 identifiers; a byte modulo 32 is evenly distributed.
function randomFraction(): number {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  return (pool[used++] as number) / 256;
}
