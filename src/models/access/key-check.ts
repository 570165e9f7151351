// key_checks: whether APP_KEY is the key this database was made with. A wrong one would look like wrong passwords.
import { derivedKeys, hmacHex } from '../../lib/secrets/secret-box.js';
import { StartRefused } from '../../lib/process/lifecycle.js';
import { KeyCheck } from './tables.js';

const name = 'APP_KEY';

/** Digests of APP_KEY, then of the keys of APP_KEY_PREVIOUS. */
const digests = (): string[] => derivedKeys('key check').map((key) => hmacHex(key, 'back-office'));

/** right: APP_KEY; previous: one of APP_KEY_PREVIOUS; wrong: none of them; new: the database does not know yet. */
type KeyState = 'right' | 'previous' | 'wrong' | 'new';

/** Whether the configured keys are those of this database. */
export async function keyState(): Promise<KeyState> {
  const digest = await storedDigest(name);
  if (digest === undefined) return 'new';
  const [today, ...previous] = digests();
  if (digest === today) return 'right';
  return previous.includes(digest) ? 'previous' : 'wrong';
}

export async function storedDigest(name: string): Promise<string | undefined> {
  return (await KeyCheck.findByPk(name))?.digest;
}

export async function storeDigest(name: string, digest: string): Promise<void> {
  await KeyCheck.upsert({ name, digest });
}

/**
 * Stores the digest of APP_KEY at the first start, and again when it has replaced a previous one.
 *
 * @throws StartRefused when the database was made with another key
 */
export async function checkAppKey(): Promise<void> {
  const state = await keyState();
  if (state === 'right') return;
  if (state === 'wrong')
    throw new StartRefused(
      'APP_KEY is not the key of this database, nor is one of APP_KEY_PREVIOUS: no password and no stored secret could be ' +
        'checked. Set the right one; if it is lost for good, see "Keys" in docs/operations.md',
    );
  await acceptAppKey();
}

/** Makes APP_KEY the key of this database. */
export async function acceptAppKey(): Promise<void> {
  const [digest = ''] = digests();
  await storeDigest(name, digest);
}
