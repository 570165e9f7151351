// The storage is marked at the first start; a process on a machine whose storage is another one does not lose uploads in silence.
// A shared folder may hang, so that opening a file in it or asking for its size never returns: processes start all the same.
import '../support/settings/environment.js';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { environment } from '../support/settings/environment.js';
import { select } from '../../src/lib/database/db.js';
import { withTimeout } from '../../src/lib/process/timers.js';
import { Client } from '../support/client.js';
import { runCli, startApi, startWorkerProcess, type TestProcess } from '../support/processes.js';
import { processesTest } from '../support/processes-test.js';
import { until } from '../support/until.js';

const shared = join(tmpdir(), `${environment.DB_NAME}-shared`);
let alone: string;
let programs: string;

const password = 'Correct-Horse-9-Battery';

const production = (STORAGE_ROOT: string) => ({
  NODE_ENV: 'production',
  STORAGE_ROOT,
  JWT_SECRET: 'Zt4kq9XbW2mPfR7vLs8dYc3nHg6jTa5u',
  APP_KEY: 'Qe8wN1zVx5bKm3pLr7tYc9uHg2jFa4sD',
  ADMIN_PASSWORD: password,
  DB_PASSWORD: process.env.DB_PASSWORD ?? '',
});

test.before(async () => {
  [alone, programs] = (await Promise.all(
    ['alone-', 'programs-'].map((name) => mkdtemp(join(tmpdir(), name))),
  )) as [string, string];
});

processesTest(
  async () => {
    for (const pid of await startedPrograms()) process.kill(pid, 'SIGKILL');
    for (const folder of [alone, shared, programs]) await rm(folder, { recursive: true, force: true });
  },
  { isEmpty: true },
);

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

async function startedPrograms(): Promise<number[]> {
  const pids = await readFile(join(programs, 'started'), 'utf8').catch(() => '');
  return pids.split('\n').filter(Boolean).map(Number);
}

/** Settings of a process that never learns the size of its storage, and writes each question for it. */
const hungSize = `
  import fs from 'node:fs/promises';
  import { syncBuiltinESMExports } from 'node:module';
  const { statfs } = fs;
  fs.statfs = (path) => {
    if (path !== process.env.STORAGE_ROOT) return statfs(path);
    process.stdout.write('the size is asked for\\n');
    return new Promise(() => {});
  };
  syncBuiltinESMExports();`;
const silentSize = {
  METRICS_PORT: '0',
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hungSize)}`,
};

/** A process that opens it waits for a writer that never comes. */
async function makeHanging(path: string): Promise<void> {
  await rm(path, { force: true });
  await promisify(execFile)('mkfifo', [path]);
}

const inTime = (start: Promise<TestProcess>): Promise<TestProcess> =>
  withTimeout(start, 60_000, (_, reject) => reject(new Error('the process did not start')));

test.serial(
  'processes start while their storage hangs, and live figures start no program, which could',
  async (t) => {
    for (const program of ['df', 'cat']) {
      await writeFile(
        join(programs, program),
        `#!/bin/sh\necho $$ >> ${programs}/started\nexec sleep 1000\n`,
      );
      await chmod(join(programs, program), 0o755);
    }
    const env = { ...production(shared), NODE_ENV: 'test', PATH: `${programs}:${process.env.PATH}` };
    await makeHanging(join(shared, 'storage-mark'));
    const [api, worker] = await Promise.all([
      inTime(startApi({ ...env, ...silentSize })),
      inTime(startWorkerProcess(env, 'exports')),
    ]);
    for (const started of [api, worker]) {
      const late = '"part":"check of the storage","msg":"a part of the start has not ended';
      await until(() => started.output().includes(late));
    }
    const admin = await new Client(api.url).signIn({ username: 'admin', password });
    t.is((await admin.get('/users')).status, 200);
    for (let round = 0; round < 3; round++) {
      const signal = AbortSignal.timeout(10_000);
      const answer = await fetch(`${api.url}/api/admin/monitor/system-info`, {
        headers: admin.headers,
        signal,
      });
      const { data } = (await answer.json()) as {
        data: { cpu: { usage: number }; disk: { total: number; used: number }; memory: { total: number } };
      };
      t.is(answer.status, 200);
      t.true(data.disk.total > data.disk.used && data.disk.used > 0);
      t.true(data.memory.total > 0);
      t.true(data.cpu.usage >= 0 && data.cpu.usage <= 100);
    }
    const port = /"port":(\d+),"host":"[^"]+","msg":"metrics are served"/.exec(api.output())?.[1];
    const figures = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    t.regex(figures, /^back_office_up/m);
    t.notRegex(figures, /^back_office_storage_bytes\{/m);
    t.is(api.output().split('the size is asked for').length, 2, 'one question, which hangs');
    t.deepEqual(await startedPrograms(), []);
  },
);
