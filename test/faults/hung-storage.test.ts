// A shared folder that hangs: opening a file in it or asking for its size never returns. Processes start, and live
// figures are answered.
import '../support/environment.js';
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { withTimeout } from '../../src/lib/process/timers.js';
import { Client } from '../support/client.js';
import { startApi, startWorkerProcess, type TestProcess } from '../support/processes.js';
import { processesTest } from '../support/processes-test.js';
import { until } from '../support/until.js';

const folder = await mkdtemp(join(tmpdir(), 'hung-'));
const root = join(folder, 'storage');
const startedFile = join(folder, 'started');

processesTest(async () => {
  for (const pid of await startedPrograms()) process.kill(pid, 'SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

async function startedPrograms(): Promise<number[]> {
  const pids = await readFile(startedFile, 'utf8').catch(() => '');
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

test('processes start while their storage hangs, and live figures start no program, which could', async (t) => {
  const programs = join(folder, 'programs');
  await mkdir(programs);
  for (const program of ['df', 'cat']) {
    await writeFile(join(programs, program), `#!/bin/sh\necho $$ >> ${startedFile}\nexec sleep 1000\n`);
    await chmod(join(programs, program), 0o755);
  }
  const env = { STORAGE_ROOT: root, PATH: `${programs}:${process.env.PATH}` };
  await (await startApi(env)).stop();
  await makeHanging(join(root, 'storage-mark'));
  const [api, worker] = await Promise.all([
    inTime(startApi({ ...env, ...silentSize })),
    inTime(startWorkerProcess(env, 'exports')),
  ]);
  for (const started of [api, worker]) {
    const late = '"part":"check of the storage","msg":"a part of the start has not ended';
    await until(() => started.output().includes(late));
  }
  const admin = await new Client(api.url).signIn();
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
});
