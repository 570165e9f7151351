// back-office blacklist …, cache …, key …, storage …, prune: small repairs without SQL and Redis commands.
import type { Command } from 'commander';
import { config } from '../../../config/index.js';
import { now } from '../../lib/values/clock.js';
import { select } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import { parseRange } from '../../lib/values/ip-range.js';
import { isId } from '../../lib/values/numbers.js';
import { maintainTables } from '../../jobs/maintain-tables.js';
import { acceptAppKey, keyState } from '../../models/access/key-check.js';
import { removeExpiredExports } from '../../models/exports/export.js';
import { pruneImports } from '../../models/imports/import.js';
import { acceptStorage, storageState } from '../../models/files/storage-mark.js';
import { sweepStorage } from '../../models/files/stored-file.js';
import { deleteBlacklists } from '../../models/office/blacklist.js';
import { changing, scopes } from '../../models/tables/versions.js';
import { does, table, type Outcome } from './command.js';

export const add = {
  blacklist(blacklist: Command): void {
    does(blacklist.command('list').description('every entry'), listBlacklist);
    does(
      blacklist
        .command('remove')
        .argument('<entry>', 'its id, or its addresses as listed')
        .description('deletes it'),
      ({ args: [entry = ''] }) => removeEntry(entry),
      { changes: true, asks: ({ args: [entry] }) => `Let the addresses of ${entry} in again?` },
    );
  },
  cache(cache: Command): void {
    does(
      cache.command('renew').description('clears the caches of every process; for changes made by SQL'),
      renewCopies,
      { changes: true },
    );
  },
  key(key: Command): void {
    does(key.command('status').description('whether APP_KEY is the key of this database'), keyStatus);
    does(
      key
        .command('accept')
        .description('takes APP_KEY for the key of this database when the right one is lost'),
      acceptKey,
      {
        changes: true,
        asks: () =>
          'No password and no secret stored under another key can be used any more. Take APP_KEY all the same?',
      },
    );
  },
  storage(storage: Command): void {
    does(
      storage.command('status').description('whether the storage is the one of this database'),
      storageStatus,
    );
    does(
      storage
        .command('accept')
        .description('takes the storage for the one of this database, after its files were moved'),
      async () => {
        await acceptStorage();
        return storageStatus();
      },
      {
        changes: true,
        asks: () => 'Files that are not in this storage cannot be downloaded any more. Take it all the same?',
      },
    );
  },
  prune(command: Command): void {
    does(command, prune, {
      changes: true,
      asks: () =>
        `Remove log entries older than ${config.retention.logDays} days, callbacks older than ` +
        `${config.retention.callbackDays} days, and what else is older than its retention?`,
    });
  },
};

async function listBlacklist(): Promise<Outcome> {
  const rows = await select(
    `SELECT id, ip, IF(status = 1, 'on', 'off') AS state, remark, created_at FROM blacklists ORDER BY id`,
  );
  return { data: rows, text: table(rows, 'nobody is turned away') };
}

async function removeEntry(entry: string): Promise<Outcome> {
  const rows = await select<{ id: number }>('SELECT id FROM blacklists WHERE ip = ? OR id = ?', [
    parseRange(entry)?.text ?? '',
    isId(entry) ? Number(entry) : 0,
  ]);
  if (rows.length === 0) fail('blacklist_not_found');
  const removed = await deleteBlacklists(rows.map(({ id }) => id));
  return { data: { removed }, text: `${entry} is let in again` };
}

async function renewCopies(): Promise<Outcome> {
  await changing(scopes, () => Promise.resolve());
  return { data: { scopes }, text: `caches cleared in every process: ${scopes.join(', ')}` };
}

const keyTexts = {
  right: 'APP_KEY is the key of this database',
  previous: 'the key of this database is one of APP_KEY_PREVIOUS; the next start notes APP_KEY instead',
  wrong: 'APP_KEY is not the key of this database',
  new: 'this database knows no key yet; the next start notes APP_KEY',
} as const;

async function keyStatus(): Promise<Outcome> {
  const state = await keyState();
  return { data: { state }, text: keyTexts[state], isBad: state === 'wrong' };
}

async function acceptKey(): Promise<Outcome> {
  const state = await keyState();
  await acceptAppKey();
  const advice = '; give passwords (admin password) and enter the secrets of payment methods again';
  return {
    data: { state: 'right' },
    text: state === 'wrong' ? `APP_KEY is the key of this database now${advice}` : keyTexts.right,
  };
}

export const storageTexts = {
  right: 'the storage is the one of this database',
  other: 'the storage is the one of another database',
  missing: 'the storage does not hold the files of this database',
  new: 'this database knows no storage yet; the next start marks it',
} as const;

async function storageStatus(): Promise<Outcome> {
  const state = await storageState();
  return { data: { state }, text: storageTexts[state], isBad: state === 'other' || state === 'missing' };
}

async function prune(): Promise<Outcome> {
  const run = maintainTables.run(
    { day: now().toISOString().slice(0, 10) },
    AbortSignal.timeout(maintainTables.timeoutMs),
  );
  const data = await run;
  for (const remove of [removeExpiredExports, pruneImports]) {
    let isMore = true;
    while (isMore) isMore = await remove();
  }
  await sweepStorage();
  return { data, text: 'what was older than its retention is gone' };
}
