// The release command with real PM2: two releases, files, a migration and traffic; back again; and a machine that starts anew.
import '../support/environment.js';
import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { closeDatabase, db, select } from '../../src/lib/database/db.js';
import { Client } from '../support/client.js';
import { makeMethod, makePayment, type MadePayment } from '../support/factories.js';
import { png } from '../support/files.js';
import { startTraffic } from '../support/kept-client.js';
import { ReleaseStage } from '../support/release-stage.js';
import { until } from '../support/until.js';

const secret = 'a shared secret that production takes';

let stage: ReleaseStage;
let admin: Client;
let payments: MadePayment[];
const names: Record<'first' | 'second', string> = { first: '', second: '' };
const files: number[] = [];

test.before(async () => {
  stage = await ReleaseStage.make();
});

test.after.always(async () => {
  await stage.remove();
  await db.query(`DROP DATABASE IF EXISTS \`${process.env.DB_NAME}\``);
  await closeDatabase();
});

async function upload(filename: string): Promise<void> {
  const answer = await admin.upload('/attachments/upload', png, { filename });
  if (answer.status !== 200) throw new Error(answer.text);
  files.push((answer.data as { id: number }).id);
}

async function filesThatAnswer(): Promise<number> {
  const answers = await Promise.all(files.map((id) => admin.download(`/attachments/${id}/download`)));
  return answers.filter(({ status, bytes }) => status === 200 && bytes.equals(png)).length;
}

/** The version that each of many new connections meets. */
async function versions(): Promise<string[]> {
  const ask = async () => {
    const answer = await fetch(`http://127.0.0.1:${stage.port}/healthz`, {
      headers: { Connection: 'close' },
    });
    return ((await answer.json()) as { data: { version: string } }).data.version;
  };
  return [...new Set(await Promise.all(Array.from({ length: 20 }, ask)))];
}

test.serial('the first release is built, migrated, started and verified', async (t) => {
  for (const age of [1, 2, 3]) {
    const folder = join(stage.home, `releases/0.${age}.0-old`);
    mkdirSync(folder, { recursive: true });
    const label = { name: `0.${age}.0-old`, version: `0.${age}.0`, commit: 'old', built_at: `2020-0${age}` };
    writeFileSync(join(folder, 'release.json'), JSON.stringify(label));
  }
  const { output, code } = await stage.release();
  t.log(output);
  t.is(code, 0, output);
  t.regex(output, /all 4 processes answer as 1\.0\.0 [0-9a-f]{12} /);
  names.first = stage.current();
  t.deepEqual(await stage.inUse(), Array(4).fill(names.first));
  const anonymous = new Client(`http://127.0.0.1:${stage.port}`);
  admin = await anonymous.signIn('admin', stage.settings.ADMIN_PASSWORD);
  const method = await makeMethod(admin, secret);
  payments = [];
  while (payments.length < 50) payments.push(await makePayment(admin, method.id));
});

test.serial('modules loaded late come from the release of their process', async (t) => {
  const link = join(stage.home, 'current');
  renameSync(link, `${link}.away`);
  await upload('first.png');
  renameSync(`${link}.away`, link);
  t.is(await filesThatAnswer(), 1);
});

test.serial('a release under traffic fails no request', async (t) => {
  stage.edit('package.json', (text) => text.replace('"version": "1.0.0"', '"version": "1.1.0"'));
  stage.edit('src/models/migrations/index.ts', (text) =>
    text.replace(
      /\n\];\n$/,
      `\n  { name: '0999-trial', up: (run) => run('CREATE TABLE trial (id INT PRIMARY KEY)'), down: (run) => run('DROP TABLE trial') },\n];\n`,
    ),
  );
  await stage.commit('second');
  const traffic = startTraffic(stage.port, admin.headers, payments, { secret, clients: 10 });
  const { output, code } = await stage.release();
  await traffic.stop();
  t.log(output, `${traffic.sent()} requests, ${traffic.failures.length} failed`);
  t.is(code, 0, output);
  t.deepEqual(traffic.failures, []);
  t.true(traffic.sent() > 1000);
  t.regex(output, /made 0999-trial/);
  names.second = stage.current();
  t.deepEqual(await versions(), ['1.1.0']);
  t.deepEqual(await stage.inUse(), Array(4).fill(names.second));
  t.is((await select('SELECT name FROM migrations WHERE name = ?', ['0999-trial'])).length, 1);
  await upload('second.png');
  t.is(await filesThatAnswer(), 2);
  const kept = readdirSync(join(stage.home, 'releases')).sort();
  t.deepEqual(kept, ['0.3.0-old', names.first, names.second].sort());
});

test.serial('a release that cannot run with the settings replaces nothing', async (t) => {
  stage.write({ ...stage.settings, JWT_SECRET: 'short' });
  const { output, code } = await stage.release();
  stage.write(stage.settings);
  t.is(code, 1);
  t.regex(output, /"JWT_SECRET" must be set to at least 32 bytes/);
  t.deepEqual(await versions(), ['1.1.0']);
});

test.serial('a rollback under traffic fails no request', async (t) => {
  const traffic = startTraffic(stage.port, admin.headers, payments, { secret });
  const { output, code } = await stage.release('rollback');
  await traffic.stop();
  t.is(code, 0, output);
  t.log(output, `${traffic.sent()} requests, ${traffic.failures.length} failed`);
  t.deepEqual(traffic.failures, []);
  t.is(stage.current(), names.first);
  t.deepEqual(await versions(), ['1.0.0']);
  await upload('third.png');
  t.is(await filesThatAnswer(), 3);
  t.regex((await stage.release('list')).output, new RegExp(`^\\* ${names.first} `, 'm'));
});

test.serial('a restarted machine runs the saved release', async (t) => {
  await stage.pm2('kill');
  await stage.pm2('resurrect');
  await until(async () => (await stage.inUse()).length === 4 && versions().catch(() => undefined), 60_000);
  t.deepEqual(await versions(), ['1.0.0']);
  t.deepEqual(await stage.inUse(), Array(4).fill(names.first));
});
