// Password hashing: bcrypt over a peppered digest, with limited concurrency so that a flood of sign-ins slows nothing
// else.
import { createHmac } from 'node:crypto';
import bcrypt from 'bcrypt';
import pLimit, { type LimitFunction } from 'p-limit';
import { config } from '../../../config/index.js';
import { currentIp } from '../process/context.js';
import { AppError, fail } from '../errors/app-error.js';
import { networkOf } from '../values/ip.js';
import { withTimeout } from '../process/timers.js';
import { derivedKeys } from './secret-box.js';

const { bcryptCost, hashConcurrency, hashQueue, hashQueuePerAddress, hashWaitMs } = config.auth;
const peppers = derivedKeys('password pepper');
const gate = pLimit(hashConcurrency);
/** One queue per address, so that a request waits for at most two hashes of another address. */
const gatesOfAddresses = new Map<string, LimitFunction>();

/** Hashes a password. @throws too_many_requests when the queue is full or the turn does not come in time */
export function hashPassword(password: string): Promise<string> {
  return throughGate(() => bcrypt.hash(digest(password, peppers[0]), bcryptCost));
}

/**
 * Compares a password with a stored hash. Without a hash (unknown user) it takes equally long and fails.
 *
 * @returns undefined when it differs; outdated when it should be rehashed because of another cost or a replaced
 * APP_KEY
 * @throws too_many_requests when the queue is full or the turn does not come in time
 */
export function matchPassword(
  password: string,
  hash: string | undefined,
): Promise<'current' | 'outdated' | undefined> {
  return throughGate(async () => {
    const expected = hash ?? (await dummyHash());
    for (const pepper of peppers) {
      const same = await bcrypt.compare(digest(password, pepper), expected);
      if (!same || hash === undefined) continue;
      return pepper === peppers[0] && bcrypt.getRounds(hash) === bcryptCost ? 'current' : 'outdated';
    }
    return undefined;
  });
}

// bcrypt reads 72 bytes and stops at NUL; a fixed-length digest makes every character count (OWASP, peppering).
function digest(password: string, pepper: Buffer): string {
  return createHmac('sha256', pepper).update(password, 'utf8').digest('base64');
}

let dummy: Promise<string> | undefined;

function dummyHash(): Promise<string> {
  return (dummy ??= bcrypt.hash('nobody', bcryptCost));
}

/** Prepares the hash for unknown users, so that the first of them takes no longer than others. */
export const preparePasswords = async (): Promise<void> => void (await dummyHash());

async function throughGate<T>(work: () => Promise<T>): Promise<T> {
  const address = networkOf(currentIp() ?? '');
  const own = gatesOfAddresses.get(address) ?? pLimit(hashConcurrency);
  if (own.pendingCount >= hashQueuePerAddress) refuse();
  gatesOfAddresses.set(address, own);
  let state: 'waiting' | 'hashing' | 'given up' = 'waiting';
  const turn = own(() => {
    if (gate.pendingCount >= hashQueue) refuse();
    return gate(() => {
      // Nobody waits for this hash any more; others do for theirs.
      if (state === 'given up') refuse();
      state = 'hashing';
      return work();
    });
  }).finally(() => {
    if (own.activeCount + own.pendingCount === 0) gatesOfAddresses.delete(address);
  });
  return withTimeout(turn, hashWaitMs, (resolve, reject) => {
    if (state === 'hashing') return resolve(turn);
    state = 'given up';
    reject(new AppError('too_many_requests', { retryAfter: 1 }));
  });
}

const refuse = (): never => fail('too_many_requests', { retryAfter: 1 });
