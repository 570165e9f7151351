// The release command with real PM2 over releases that are built already: which of them it goes back to and keeps, and that PM2
// runs what the settings name.
import '../support/environment.js';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { closeDatabase, db } from '../../src/lib/database/db.js';
import { ReleaseStage } from '../support/release-stage.js';

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
  t.true(existsSync(join(stage.home, 'current/.env.acme')), 'it has the settings of a new tenant');
  t.deepEqual(stage.releases(), [first, second].sort(), 'what was never released is removed');

  await stage.plant('failed');
  await succeeds('rollback');
  t.is(stage.current(), first);
  const refused = await stage.release('rollback');
  t.is(refused.code, 1);
  t.regex(refused.output, /there is no release before this one/);
});
