// Releases that turn out wrong only when they run under PM2, or whose migration fails: the one before serves on, and no request fails.
import '../support/environment.js';
import test, { type ExecutionContext } from 'ava';
import { closeDatabase, db, select } from '../../src/lib/database/db.js';
import { Client } from '../support/client.js';
import { makeMethod, makePayment, type MadePayment } from '../support/factories.js';
import { startTraffic } from '../support/kept-client.js';
import { ReleaseStage } from '../support/release-stage.js';
import { until } from '../support/until.js';

const secret = 'a shared secret that production takes';

let stage: ReleaseStage;
let admin: Client;
let payments: MadePayment[];
let good: string;

test.before(async () => {
  stage = await ReleaseStage.make();
  stage.write({ ...stage.settings, CONSOLE_ENABLED: 'false' });
  good = await stage.place('1.0.1');
  const { output, code } = await stage.release();
  if (code !== 0) throw new Error(output);
  admin = await new Client(`http://127.0.0.1:${stage.port}`).signIn('admin', stage.settings.ADMIN_PASSWORD);
  const method = await makeMethod(admin, secret);
  payments = await Promise.all(Array.from({ length: 30 }, () => makePayment(admin, method.id)));
});

test.after.always(async () => {
  await stage.remove();
  await db.query(`DROP DATABASE IF EXISTS \`${process.env.DB_NAME}\``);
  await closeDatabase();
});

/** Releases under traffic what must not stay. @returns what the command said */
async function releaseInVain(t: ExecutionContext): Promise<string> {
  const traffic = startTraffic(stage.port, admin.headers, payments, { secret, clients: 5 });
  const { output, code } = await stage.release();
  await traffic.stop();
  t.log(output, `${traffic.sent()} requests, ${traffic.failures.length} failed`);
  t.is(code, 1, output);
  t.deepEqual(traffic.failures, []);
  t.true(traffic.sent() > 100);
  t.is(stage.current(), good);
  t.deepEqual(await stage.inUse(), Array(4).fill(good));
  await until(async () => (await stage.strays()).length === 0);
  const answer = await fetch(`http://127.0.0.1:${stage.port}/healthz`);
  t.like(await answer.json(), { data: { version: '1.0.1' } });
  return output;
}

test.serial('a failed migration replaces nothing', async (t) => {
  await stage.place('1.0.2', {
    'build/src/models/migrations/index.js': (text) =>
      text.replace(/\n\];\n/, `\n { name: '0999-wrong', up: (run) => run('CREATE TABLE wrong ('), },\n];\n`),
  });
  const output = await releaseInVain(t);
  t.regex(output, /0999-wrong could not be made: You have an error in your SQL syntax/);
  t.notRegex(output, /current leads to/);
  t.deepEqual(await select('SELECT name FROM migrations WHERE name = ?', ['0999-wrong']), []);
});

test.serial('an API that fails under PM2 replaces no instance', async (t) => {
  const first = (await stage.started()).filter(({ name }) => name === 'api').map(({ pid }) => pid);
  await stage.place('1.0.3', {
    'build/src/api/main.js': (text) =>
      `if (process.env.NODE_APP_INSTANCE !== undefined) process.exit(1);\n${text}`,
  });
  const output = await releaseInVain(t);
  t.regex(output, /api ends as soon as it is started; what it said: pm2 logs api/);
  t.regex(output, new RegExp(`going back to ${good}`));
  t.is(first.length, 2);
});

test.serial('a process that answers as another release is rolled back', async (t) => {
  await stage.place('1.0.4', {
    'build/src/lib/watch/port.js': (text) => text.replace('version: config.version', `version: '0.0.1'`),
  });
  const output = await releaseInVain(t);
  t.regex(
    output,
    /✗ [a-z-]+ \(process \d+\) answers as 0\.0\.1 [0-9a-f]{12}, and its folder is that of 1\.0\.4 /,
  );
  t.notRegex(output, /current leads to 1\.0\.4/);
  t.regex(output, new RegExp(`all 4 processes answer as 1\\.0\\.1 ${good.slice(-12)}`));
});

test.serial('the next good release succeeds', async (t) => {
  good = await stage.place('1.0.5');
  const { output, code } = await stage.release();
  t.is(code, 0, output);
  t.deepEqual(await stage.inUse(), Array(4).fill(good));
});
