// The release command with real PM2: two releases under traffic with an upload and a migration, and back again.
import '../support/settings/environment.js';
import test from 'ava';
import { closeDatabase, db, select } from '../../src/lib/database/db.js';
import { Client } from '../support/client.js';
import { makeMethod, makePayment, type MadePayment } from '../support/factories.js';
import { png } from '../support/files.js';
import { startTraffic } from '../support/kept-client.js';
import { ReleaseStage } from '../support/release-stage.js';

const secret = 'a shared secret that production takes';

let stage: ReleaseStage;
let admin: Client;
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

test.serial('a release and a rollback under traffic fail no request and keep every file', async (t) => {
  const first = await stage.release();
  t.is(first.code, 0, first.output);
  const old = stage.current();
  const anonymous = new Client(`http://127.0.0.1:${stage.port}`);
  const { ADMIN_PASSWORD: password = '' } = stage.settings;
  admin = await anonymous.signIn({ username: 'admin', password });
  const method = await makeMethod(admin, secret);
  const payments: MadePayment[] = [];
  while (payments.length < 50) payments.push(await makePayment(admin, method.id));
  await upload('first.png');

  stage.edit('package.json', (text) => text.replace('"version": "1.0.0"', '"version": "1.1.0"'));
  stage.edit('src/models/migrations/index.ts', (text) =>
    text.replace(
      /\n\];\n$/,
      `\n  { name: '0999-trial', up: (run) => run('CREATE TABLE trial (id INT PRIMARY KEY)'), down: (run) => run('DROP TABLE trial') },\n];\n`,
    ),
  );
  await stage.commit('second');
  const meets = async (version: string, name: string, ...args: string[]): Promise<void> => {
    const traffic = startTraffic(stage.port, admin.headers, payments, secret);
    const { output, code } = await stage.release(...args);
    await traffic.stop();
    t.is(code, 0, output);
    t.log(`${version}: ${traffic.sent()} requests, ${traffic.failures.length} failed`);
    t.deepEqual(traffic.failures, []);
    t.true(traffic.sent() > 100);
    t.deepEqual(await versions(), [version]);
    if (name) t.is(stage.current(), name);
    t.deepEqual(await stage.inUse(), Array(4).fill(stage.current()));
    await upload(`${version}.png`);
  };
  await meets('1.1.0', '');
  t.is((await select('SELECT name FROM migrations WHERE name = ?', ['0999-trial'])).length, 1);
  t.is(await filesThatAnswer(), 2);
  await meets('1.0.0', old, 'rollback');
  t.is(await filesThatAnswer(), 3);

  stage.write({ ...stage.settings, JWT_SECRET: 'short' });
  const refused = await stage.release();
  t.is(refused.code, 1);
  t.regex(refused.output, /"JWT_SECRET" must be set to at least 32 bytes/);
  t.deepEqual(await versions(), ['1.0.0'], 'settings that cannot be used replace nothing');
});
