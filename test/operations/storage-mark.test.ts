// The storage is marked at the first start; a process on a machine whose storage is another one does not lose uploads in silence.
import '../support/environment.js';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { environment } from '../support/environment.js';
import { select } from '../../src/lib/database/db.js';
import { runCli, startApi, startWorkerProcess } from '../support/processes.js';
import { processesTest } from '../support/processes-test.js';
import { until } from '../support/until.js';

const shared = join(tmpdir(), `${environment.DB_NAME}-shared`);
let alone: string;

const production = (STORAGE_ROOT: string) => ({
  NODE_ENV: 'production',
  STORAGE_ROOT,
  JWT_SECRET: 'Zt4kq9XbW2mPfR7vLs8dYc3nHg6jTa5u',
  APP_KEY: 'Qe8wN1zVx5bKm3pLr7tYc9uHg2jFa4sD',
  ADMIN_PASSWORD: 'Correct-Horse-9-Battery',
  DB_PASSWORD: process.env.DB_PASSWORD ?? '',
});

test.before(async () => {
  alone = await mkdtemp(join(tmpdir(), 'alone-'));
});

processesTest(async () => {
  for (const folder of [alone, shared]) await rm(folder, { recursive: true, force: true });
});

const refusal = /does not hold the files of this database/;

test.serial('concurrent starts mark a new storage once', async (t) => {
  const env = production(shared);
  const started = await Promise.all([startApi(env), startWorkerProcess(env)]);
  for (const one of started) t.notRegex(one.output(), refusal);
  t.is((await select(`SELECT 1 FROM key_checks WHERE name = 'STORAGE'`)).length, 1);
  t.is((await runCli(['storage', 'status'], env)).code, 0);
});

test.serial('production does not start on storage that is not shared', async (t) => {
  const env = production(alone);
  for (const start of [startApi(env), startWorkerProcess(env, 'exports')])
    t.regex((await t.throwsAsync(start))?.message ?? '', refusal);
  const status = await runCli(['storage', 'status'], env);
  t.deepEqual([status.code, status.output], [1, 'the storage does not hold the files of this database\n']);
});

test.serial('a worker that uses no files needs no storage', async (t) => {
  const started = await startWorkerProcess(production(alone), 'payments,logs,notifications');
  t.notRegex(started.output(), refusal);
});

test.serial('outside production unshared storage is a warning', async (t) => {
  const started = await startApi({ ...production(alone), NODE_ENV: 'test' });
  t.truthy(await until(() => refusal.test(started.output())));
});

test.serial('the command line accepts moved files', async (t) => {
  const env = production(alone);
  t.is((await runCli(['storage', 'accept', '--yes'], env)).code, 0);
  t.notRegex((await startApi(env)).output(), refusal);
  t.regex(
    (await t.throwsAsync(startApi(production(shared))))?.message ?? '',
    /is the storage of another database/,
  );
});
