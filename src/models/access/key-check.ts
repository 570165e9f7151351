// key_checks: whether APP_KEY is the key this database was made with. A wrong one would look like wrong passwords.
import { now } from '../../lib/clock.js';
import { derivedKeys, hmacHex } from '../../lib/secrets/secret-box.js';
import { StartRefused } from '../../lib/process/start-refused.js';
import { columnsOf, selection } from '../tables/selection.js';
import { KeyCheck } from './tables.js';
import { execute, over } from '../tables/sql.js';

const name = 'APP_KEY';

/** Digests of APP_KEY, then of the keys of APP_KEY_PREVIOUS. */
const digests = (): string[] => derivedKeys('key check').map((key) => hmacHex(key, 'back-office'));

/** right: APP_KEY; previous: one of APP_KEY_PREVIOUS; wrong: none of them; new: the database does not know yet. */
export type KeyState = 'right' | 'previous' | 'wrong' | 'new';

/** Whether the configured keys are those of this database. */
export async function keyState(): Promise<KeyState> {
  return keyStateOf(await storedKeyDigest());
}

/** What the keys given are to data under the key of that digest. */
export function keyStateOf(digest: string | undefined): KeyState {
  if (digest === undefined) return 'new';
  const [today, ...previous] = digests();
  if (digest === today) return 'right';
  return previous.includes(digest) ? 'previous' : 'wrong';
}

const checks = selection(columnsOf(KeyCheck, 'k', 'digest'), 'key_checks k');
const sql = over({ 'key_checks k': KeyCheck, key_checks: KeyCheck });

/** The digest that is kept under that name. */
export async function keptDigest(name: string): Promise<string | undefined> {
  return (await checks.one(sql('WHERE k.name = :name', { name })))?.digest;
}

/** The digest of the key of this database, when it knows one. */
export async function storedKeyDigest(): Promise<string | undefined> {
  return keptDigest(name);
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
  const at = now();
  await execute(
    sql(
      `INSERT INTO key_checks (name, digest, created_at, updated_at) VALUES (:name, :digest, :at, :at)
       ON DUPLICATE KEY UPDATE digest = VALUES(digest), updated_at = VALUES(updated_at)`,
      { name, digest, at },
    ),
  );
}
