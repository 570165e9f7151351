// back-office doctor: checks that this machine, its settings and its servers meet the requirements of the service.
import { access, constants, mkdir, statfs } from 'node:fs/promises';
import type { Command } from 'commander';
import { config } from '../../../config/index.js';
import { isEnabled } from '../../lib/channels/index.js';
import { ago, now, skewMs } from '../../lib/values/clock.js';
import { change, select } from '../../lib/database/db.js';
import { periodOf, shiftPeriod } from '../../lib/values/numbers.js';
import { countJobs } from '../../lib/queue/queue.js';
import { redis, tryWrite } from '../../lib/redis/redis.js';
import { isUnfixedNode } from '../../lib/process/lifecycle.js';
import { keyState } from '../../models/access/key-check.js';
import { checkEquations } from '../../models/figures/consistency.js';
import { storageState } from '../../models/files/storage-mark.js';
import { migrationState } from '../../models/migrations/schema.js';
import { countFailedJobs } from '../../models/office/failed-job.js';
import { registerDatabase } from '../../models/office/redis-sharing.js';
import { takesWrites } from '../../models/office/readiness.js';
import { lastMonth } from '../../models/tables/partitions.js';
import { unsettledCallbacks } from '../../models/trade/payment-callback.js';
import { oldestDue } from '../../models/trade/payment-follow-up.js';
import { does, assertRedis, sentenceOf, table, type Outcome } from './command.js';
import {
  checkDatabaseDurability,
  checkReplication,
  fault,
  ok,
  warning,
  type Finding,
} from './database-checks.js';
import { storageTexts } from './maintenance.js';

export const add = { doctor: (command: Command): void => does(command, examine, { anySchema: true }) };

/** In the order in which to fix them. */
const checks: Record<string, () => Promise<Finding> | Finding> = {
  settings: checkSettings,
  'Node.js': checkNode,
  database: checkDatabase,
  schema: checkSchema,
  key: checkKey,
  'database durability': checkDatabaseDurability,
  'database replication': checkReplication,
  Redis: checkRedis,
  'Redis durability': checkRedisDurability,
  clock: checkClock,
  storage: checkStorage,
  files: checkFiles,
  partitions: checkPartitions,
  callbacks: checkCallbacks,
  channels: checkChannels,
  books: checkSums,
  jobs: checkJobs,
};

async function examine(): Promise<Outcome> {
  const findings: ({ check: string } & Finding)[] = [];
  for (const [check, look] of Object.entries(checks)) {
    const finding = await Promise.resolve()
      .then(look)
      .catch((error: unknown) => fault(sentenceOf(error)));
    findings.push({ check, ...finding });
  }
  const isBad = findings.some(({ level }) => level === 'fault');
  return {
    data: { well: !isBad, findings },
    text: table(findings, ''),
    isBad,
  };
}

function checkSettings(): Finding {
  const misspelt = config.misspellings.map(({ given, meant }) => `${given} (${meant}?)`);
  const ignored = [...misspelt, ...config.retired];
  const { production, url } = config.app;
  const { driver, s3 } = config.storage;
  const takesUnsigned = production && config.payments.unsignedMockAllowed && isEnabled('mock');
  const endpoint = driver === 's3' && s3.presignedDownloads ? (s3.endpoint ?? '') : '';
  const doubts = [
    ...(ignored.length > 0 ? [`ignored: ${ignored.join(', ')}`] : []),
    ...(production && !url.startsWith('https:') ? [`APP_URL is ${url}: no payment company calls that`] : []),
    ...(takesUnsigned
      ? ['PAYMENT_UNSIGNED_MOCK_ALLOWED is true: anybody pays by a mock method without a secret']
      : []),
    ...(url.startsWith('https:') && endpoint.startsWith('http:')
      ? [`S3_ENDPOINT is ${endpoint}: no page of https loads files from there (S3_PRESIGNED_DOWNLOADS)`]
      : []),
  ];
  return doubts.length > 0 ? warning(doubts.join('; ')) : ok('usable');
}

function checkNode(): Finding {
  const { node } = process.versions;
  return isUnfixedNode() ? warning(`${node} no longer gets security fixes`) : ok(node);
}

async function checkDatabase(): Promise<Finding> {
  const [row] = await select<{ version: string }>('SELECT VERSION() AS version');
  const says = `${row?.version} at ${config.database.host}:${config.database.port}, ${config.database.name}`;
  return (await takesWrites()) ? ok(says) : fault(`${says}; it takes no writes (read_only)`);
}

async function checkSchema(): Promise<Finding> {
  const { applied, pending, unknown } = await migrationState();
  if (pending.length > 0) return fault(`pending: ${pending.join(', ')}`);
  // An account that may not write is refused although no row matches.
  await change('UPDATE migrations SET name = name WHERE FALSE');
  if (unknown.length > 0) return warning(`newer than this release: ${unknown.join(', ')}`);
  return ok(`${applied.length} migrations applied`);
}

async function checkKey(): Promise<Finding> {
  const state = await keyState();
  if (state === 'wrong') return fault('APP_KEY is not the key of this database');
  return state === 'previous' ? warning('the database still uses a key of APP_KEY_PREVIOUS') : ok(state);
}

const minRedis = [6, 2] as const;

async function checkRedis(): Promise<Finding> {
  assertRedis();
  await tryWrite();
  const version = field(await redis.info('server'), 'redis_version');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < minRedis[0] || (major === minRedis[0] && minor < minRedis[1]);
  if (isOld) return fault(`${version}; ${minRedis.join('.')} is needed`);
  const others = await registerDatabase().catch(() => []); // before the first start there are no tables
  return others.length > 0
    ? fault(`${version}; the deployment of ${others.join(', ')} has the same REDIS_PREFIX`)
    : ok(version);
}

async function checkRedisDurability(): Promise<Finding> {
  assertRedis();
  const wrong: string[] = [];
  if (field(await redis.info('persistence'), 'aof_enabled') !== '1') wrong.push('appendonly is off');
  const policy = field(await redis.info('memory'), 'maxmemory_policy');
  if (policy !== 'noeviction') wrong.push(`maxmemory-policy is ${policy}, not noeviction`);
  return wrong.length > 0
    ? warning(`queues may lose jobs: ${wrong.join(', ')}`)
    : ok('appendonly, noeviction');
}

const field = (info: string, name: string): string =>
  new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';

async function checkClock(): Promise<Finding> {
  assertRedis();
  const [row] = await select<{ at: Date }>('SELECT NOW(3) AS at');
  const database = (row?.at.getTime() ?? NaN) - Date.now();
  const [seconds = 0, micros = 0] = await redis.time();
  const cache = Number(seconds) * 1000 + Number(micros) / 1000 - Date.now();
  const worst = Math.max(Math.abs(database), Math.abs(cache));
  const says = `differs by ${Math.round(database)} ms from the database, ${Math.round(cache)} ms from Redis`;
  return worst > skewMs ? warning(`${says}; set it by NTP`) : ok(says);
}

const gibibyte = 1024 ** 3;

async function checkStorage(): Promise<Finding> {
  const { driver, root } = config.storage;
  await mkdir(root, { recursive: true, mode: 0o700 });
  await access(root, constants.W_OK);
  const { bavail, bsize, blocks } = await statfs(root);
  const free = bavail * bsize;
  const says = `${driver}; ${(free / gibibyte).toFixed(1)} GiB free at ${root}`;
  if (free < gibibyte) return fault(says);
  return bavail / blocks < 0.1 ? warning(says) : ok(says);
}

async function checkFiles(): Promise<Finding> {
  const state = await storageState();
  return state === 'other' || state === 'missing' ? fault(storageTexts[state]) : ok(storageTexts[state]);
}

async function checkPartitions(): Promise<Finding> {
  const current = periodOf(now());
  const last = await lastMonth();
  const says = `partitions end at ${last}`;
  if (last < shiftPeriod(current, 1)) return fault(`${says}; does a worker run?`);
  return last < shiftPeriod(current, 2) ? warning(says) : ok(says);
}

const overdueMs = 120_000;

async function checkCallbacks(): Promise<Finding> {
  let waiting = 0;
  for await (const _ of unsettledCallbacks(ago(overdueMs))) if (++waiting === 1000) break;
  return waiting > 0
    ? fault(`${waiting} verified, unsettled for more than 2 minutes; does a worker run?`)
    : ok('none has been unsettled for 2 minutes');
}

async function checkChannels(): Promise<Finding> {
  const due = await oldestDue();
  const minutes = due ? Math.floor((now().getTime() - due.getTime()) / 60_000) : 0;
  return minutes >= 10
    ? fault(`queries to payment companies are ${minutes} minutes overdue; does a worker run?`)
    : ok('no query is overdue');
}

async function checkSums(): Promise<Finding> {
  const wrong = await checkEquations();
  const said = wrong.map(({ what, count, first }) => `${count} ${what}: ${first.join(', ')}`);
  return wrong.length > 0 ? fault(said.join('; ')) : ok('refunds and balances add up');
}

const standsSeconds = 60;

async function checkJobs(): Promise<Finding> {
  const failed = Object.entries(await countFailedJobs()).filter(([, count]) => count > 0);
  const queues = await countJobs();
  const standing = queues.filter((one) => one.active === 0 && one.oldest_seconds > standsSeconds);
  if (standing.length > 0) {
    const names = standing.map(({ name }) => name).join(', ');
    return fault(`waiting for more than a minute while none runs: ${names}; does a worker run?`);
  }
  const waiting = queues.map(({ name, waiting: held }) => `${name} ${held}`);
  if (failed.length > 0)
    return warning(`failed for good: ${failed.map(([name, count]) => `${name} ${count}`).join(', ')}`);
  return ok(`waiting: ${waiting.join(', ')}`);
}
