// The release command with real PM2 over releases that are built already: which of them it goes back to and keeps, and that PM2
// runs what the settings name.
import '../support/settings/environment.js';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { closeDatabase, db } from '../../src/lib/database/db.js';
import { ReleaseStage } from '../support/release-stage.js';
import { until } from '../support/until.js';

let stage: ReleaseStage;

test.before(async () => {
  stage = await ReleaseStage.make();
  stage.write({ ...stage.settings, CONSOLE_ENABLED: 'false' });
});

test.after.always(async () => {
  await stage.remove();
  await db.query(`DROP DATABASE IF EXISTS \`${process.env.DB_NAME}\``);
  await closeDatabase();
});

test.serial('PM2 runs what the settings name, and a rollback goes to what was released', async (t) => {
  const succeeds = async (...args: string[]): Promise<void> => {
    const { code, output } = await stage.release(...args);
    t.is(code, 0, output);
  };
  const first = await stage.plant();
  await succeeds();
  t.is(stage.current(), first);
  t.is((await stage.inUse()).length, 4);

  stage.edit('README.md', (text) => `${text}\n`);
  await stage.commit('second');
  const second = await stage.plant();
  await stage.plant('never-released');
  await stage.pm2(
    'start',
    '/bin/sleep',
    '--name',
    'former',
    '--cwd',
    join(stage.home, 'current'),
    '--',
    '600',
  );
  stage.write({ ...stage.settings, CONSOLE_ENABLED: 'false', API_INSTANCES: '1' });
  stage.write({}, '.env.acme');
  await succeeds();
  const started = await stage.started();
  t.deepEqual(started.map(({ name }) => name).sort(), ['api', 'worker-bulk', 'worker-quick']);
  t.deepEqual(await stage.inUse(), Array(3).fill(second));
  const figures = `http://127.0.0.1:${stage.settings.METRICS_PORT}/metrics`;
  await until(() =>
    fetch(figures).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  t.true(existsSync(join(stage.home, 'current/.env.acme')), 'it has the settings of a new tenant');
  t.deepEqual(stage.releases(), [first, second].sort(), 'what was never released is removed');

  await stage.plant('failed');
  await succeeds('rollback');
  t.is(stage.current(), first);
  const refused = await stage.release('rollback');
  t.is(refused.code, 1);
  t.regex(refused.output, /there is no release before this one/);
});

test.serial('a release that is interrupted while it replaces processes can be taken back', async (t) => {
  const before = stage.current();
  const { code, output } = await stage.interrupted();
  t.is(code, 130, output);
  t.not(stage.current(), before, output);
  const back = await stage.release('rollback');
  t.is(back.code, 0, back.output);
  t.deepEqual(await stage.inUse(), Array(3).fill(before));
});

test.serial('a release whose API is never ready is taken back while the one before serves on', async (t) => {
  const before = stage.current();
  stage.edit('deploy/release.mjs', (text) =>
    text.replace('READY_TIMEOUT_MS = 120_000', 'READY_TIMEOUT_MS = 20_000'),
  );
  await stage.commit('never ready');
  const name = await stage.plant();
  stage.editRelease(
    name,
    'build/src/api/main.js',
    (text) => `if (process.env.pm_id) process.exit(1);\n${text}`,
  );
  let isDone = false;
  const failures: string[] = [];
  const asking = (async () => {
    while (!isDone) {
      const answer = await fetch(`http://127.0.0.1:${stage.port}/healthz`).catch((error: unknown) => error);
      if (!(answer instanceof Response && answer.ok)) failures.push(String(answer));
      await sleep(100);
    }
  })();
  const { code, output } = await stage.release();
  isDone = true;
  await asking;
  t.is(code, 1, output);
  t.true(output.includes(`${name} was not released; ${before} runs as before`), output);
  t.deepEqual(failures, []);
  t.is(stage.current(), before);
  t.deepEqual(await stage.inUse(), Array(3).fill(before));
});

test.serial('a commit that is not there is named', async (t) => {
  const { code, output } = await stage.release('--ref', 'v9.9.9');
  t.is(code, 1);
  t.regex(output, /there is no commit v9\.9\.9 in /);
});

test.serial('an address that the machine does not have is refused before anything is replaced', async (t) => {
  const before = stage.current();
  stage.write({ ...stage.settings, CONSOLE_ENABLED: 'false', API_INSTANCES: '1', HOST: '203.0.113.9' });
  const { code, output } = await stage.release();
  stage.write({ ...stage.settings, CONSOLE_ENABLED: 'false', API_INSTANCES: '1' });
  t.is(code, 1);
  t.regex(output, /its API does not start\n.*address not available 203\.0\.113\.9/s);
  t.is(stage.current(), before);
});

test.serial('a build that fails leaves nothing', async (t) => {
  stage.edit('package-lock.json', () => '');
  await stage.commit('no lockfile');
  const before = stage.releases();
  const { code, output } = await stage.release();
  t.is(code, 1);
  t.regex(output, /npm ended with 1/);
  t.deepEqual(stage.releases(), before);
});

test.serial('an instance that PM2 no longer knows ends with the next release', async (t) => {
  const folder = join(stage.home, 'current');
  const env = { pm_exec_path: join(folder, 'build/src/api/main.js') };
  const lost = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { cwd: folder, env });
  t.teardown(() => lost.kill('SIGKILL'));
  const { code, output } = await stage.release('--ref', 'HEAD~2');
  t.is(code, 0, output);
  await until(() => lost.signalCode === 'SIGTERM');
  t.pass();
});
