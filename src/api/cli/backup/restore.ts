// back-office restore: the database, the binary logs up to a point in time, then the files that its rows name.
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import pLimit from 'p-limit';
import { config } from '../../../../config/index.js';
import { startProgram } from '../../../lib/database/programs.js';
import { lanesOf, queueNames, queuePrefix } from '../../../lib/queue/names.js';
import { key as redisKey, matchingKeys, patientRedis } from '../../../lib/redis/redis.js';
import { storage } from '../../../lib/storage/index.js';
import { keyStateOf } from '../../../models/access/key-check.js';
import { acceptStorage } from '../../../models/files/storage-mark.js';
import { unknownKeys } from '../../../models/files/stored-file.js';
import { emptyForRestore } from '../../../models/migrations/emptying.js';
import { createDatabase, migrationState } from '../../../models/migrations/schema.js';
import { Misuse, assertRedis, type Given, type Outcome } from '../command.js';
import { faultsIn, poolPath, readList, readManifest, type Manifest } from './folder.js';

const filesAtOnce = 4;
const keysAtOnce = 2000;

export async function restoreBackup(given: Given): Promise<Outcome> {
  const path = resolve(given.args[0] ?? '');
  const manifest = await readManifest(path);
  const replay = await replayOf(given, manifest);
  if (keyStateOf(manifest.key_digest ?? undefined) === 'wrong')
    throw new Error(
      'the backup was made under another APP_KEY, so no password and no stored secret in it could be used: set the key of its time (or add it to APP_KEY_PREVIOUS)',
    );
  assertRedis();
  const faults = await faultsIn(path, manifest);
  if (faults.length > 0) throw new Error(`the backup is damaged: ${faults.slice(0, 5).join('; ')}`);
  await createDatabase();
  await emptyForRestore(given.flag('overwrite'));
  await load(join(path, manifest.database.dump.name));
  if (replay) await replayLogs(manifest, replay);
  const restored = given.flag('withoutFiles') ? 0 : await restoreFiles(path, manifest);
  // The mark that came with the database is that of the storage that was lost.
  if (manifest.key_digest !== null && !given.flag('withoutFiles')) await acceptStorage();
  await forgetRedis();
  const { pending, unknown } = await migrationState();
  return {
    data: { path, files: restored, until: replay?.until ?? null, pending, unknown },
    text: [
      `${config.database.name} is as of ${replay?.until.toISOString() ?? manifest.begun_at}; ${restored} files were put back`,
      ...(pending.length > 0 ? ['"back-office migrate up" brings it to the shape of this release'] : []),
      ...(unknown.length > 0 ? [`it is of a newer release than this one: ${unknown.join(', ')}`] : []),
      '"back-office verify" looks whether all belongs together',
    ].join('\n'),
  };
}

/** What is asked before everything in the database goes. */
export function askToOverwrite(given: Given): string | undefined {
  if (!given.flag('overwrite')) return undefined;
  return `Delete everything in the database ${config.database.name} at ${config.database.host} and put the backup in its place?`;
}

async function restoreFiles(path: string, manifest: Manifest): Promise<number> {
  const driver = await storage();
  const atOnce = pLimit(filesAtOnce);
  let restored = 0;
  const put = async ({ key, size }: { key: string; size: number }): Promise<void> => {
    if ((await driver.stat(key))?.size === size) return;
    await driver.put(key, createReadStream(poolPath(path, key)));
    restored++;
  };
  // A backup also holds files that were uploaded during its dump; those without a row are not restored.
  const files = await readList(path, manifest);
  for (let from = 0; from < files.length; from += keysAtOnce) {
    const some = files.slice(from, from + keysAtOnce);
    const strangers = new Set(await unknownKeys(some.map(({ key }) => key)));
    await Promise.all(some.filter(({ key }) => !strangers.has(key)).map((file) => atOnce(put, file)));
  }
  return restored;
}

const clientArgs = ['--binary-mode', '--default-character-set=utf8mb4'];

async function load(dump: string): Promise<void> {
  const client = await startProgram('client', [...clientArgs, config.database.name]);
  client.stdout.resume();
  const fed = pipeline(createReadStream(dump), createGunzip(), client.stdin);
  // A statement that the client refused is the cause; its closed input is the consequence.
  const [ended, sent] = await Promise.allSettled([client.ended, fed]);
  if (ended.status === 'rejected') throw ended.reason;
  if (sent.status === 'rejected') throw sent.reason;
}

interface Replay {
  logs: string[];
  position: number;
  until: Date;
}

async function replayOf(
  given: Given,
  { database: { binlog }, begun_at }: Manifest,
): Promise<Replay | undefined> {
  const [folder, text] = [given.option('binlogs'), given.option('until')];
  if (folder === undefined && text === undefined) return undefined;
  if (folder === undefined || text === undefined) throw new Misuse('--binlogs and --until belong together');
  const until = new Date(text);
  if (Number.isNaN(until.getTime()) || !/[zZ]$|[+-]\d\d:\d\d$/.test(text))
    throw new Misuse('--until: a time with its zone, as 2026-11-01T00:00:00Z');
  if (until < new Date(begun_at))
    throw new Misuse(`--until: the backup is of ${begun_at}; take an earlier one`);
  if (binlog === null) throw new Error('the backup does not know where the binary log stood');
  const stem = binlog.file.replace(/\.\d+$/, '');
  const names = (await readdir(folder)).filter(
    (name) => name.startsWith(`${stem}.`) && /\.\d+$/.test(name) && name >= binlog.file,
  );
  if (!names.includes(binlog.file)) throw new Error(`${folder} has no ${binlog.file}, where the backup ends`);
  return { logs: names.sort().map((name) => join(folder, name)), position: binlog.position, until };
}

async function replayLogs({ database }: Manifest, { logs, position, until }: Replay): Promise<void> {
  const { name } = config.database;
  const renamed = database.name === name ? [] : [`--rewrite-db=${database.name}->${name}`];
  const log = await startProgram('binlog', [
    `--start-position=${position}`,
    `--stop-datetime=${until.toISOString().slice(0, 19).replace('T', ' ')}`,
    ...renamed,
    `--database=${name}`,
    ...logs,
  ]);
  log.stdin.end();
  const client = await startProgram('client', [...clientArgs, name]);
  client.stdout.resume();
  const outcomes = await Promise.allSettled([client.ended, log.ended, pipeline(log.stdout, client.stdin)]);
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
}

// Marks and copies belong to the replaced data; the sweeper queues again what is open in the restored rows.
async function forgetRedis(): Promise<void> {
  const lanes = queueNames.flatMap((queue) => lanesOf(queue).map((lane) => `${queuePrefix(queue, lane)}:`));
  for (const prefix of [redisKey(''), ...lanes]) {
    // One by one: keys of a cluster may be in different slots.
    for await (const keys of matchingKeys(`${prefix}*`))
      await Promise.all(keys.map((key) => patientRedis.unlink(key)));
  }
}
