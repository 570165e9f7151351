// Starting: several processes at once on a database that does not exist yet, settings that refuse a start, another APP_KEY,
// and migrations back and forth.
import '../support/settings/environment.js';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { config } from '../../config/index.js';
import { environment } from '../support/settings/environment.js';
import { maintainTables } from '../../src/jobs/maintain-tables.js';
import { db, select } from '../../src/lib/database/db.js';
import { underClaim } from '../../src/models/tables/claim.js';
import { emptyDatabase, prepareDatabase } from '../../src/models/migrations/schema.js';
import {
  callBack,
  makeAdmin,
  makeMethod,
  makePayment,
  mockCallback,
  mockSign,
  unique,
  type MadeAdmin,
} from '../support/factories.js';
import { Client } from '../support/client.js';
import { beforeDatabase } from '../support/servers/faulty-proxy.js';
import {
  killProcesses,
  runCli,
  startApi,
  startWorkerProcess,
  type TestProcess,
} from '../support/processes.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

let service: Service;
let password = 'admin123';
const fresh = `${environment.DB_NAME}_fresh`;

test.before(async () => {
  service = await startService({ withWorker: false });
});

test.after.always(async () => {
  await killProcesses();
  for (const name of [fresh, `${fresh}_weak`]) await db.query(`DROP DATABASE IF EXISTS \`${name}\``);
  await service.stop();
});

const tablesOf = async (name: string) => {
  const rows = await select<{ name: string }>(
    'SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? ORDER BY TABLE_NAME',
    [name],
  );
  return rows.map((row) => row.name);
};

const count = async (table: string, what = '*'): Promise<number> => {
  const [row] = await select<{ total: number }>(`SELECT COUNT(${what}) AS total FROM \`${fresh}\`.${table}`);
  return row?.total ?? -1;
};

test.serial('four processes started on a missing database all come up', async (t) => {
  const env = { DB_NAME: fresh, REDIS_PREFIX: `${environment.REDIS_PREFIX}-fresh` };
  const [one, other, ...workers] = await Promise.all([
    startApi(env),
    startApi(env),
    startWorkerProcess(env),
    startWorkerProcess(env),
  ]);
  t.deepEqual(await tablesOf(fresh), await tablesOf(environment.DB_NAME));
  t.deepEqual([await count(`admins`), await count('admin_roles'), await count('roles')], [1, 1, 1]);
  for (const [table, key] of [
    ['menus', 'slug'],
    ['permissions', 'slug'],
    ['migrations', 'name'],
    ['claims', 'name'],
  ] as const) {
    const total = await count(table);
    t.true(total > 0, table);
    t.is(await count(table, `DISTINCT ${key}`), total, table);
  }
  const admin = await new Client(one.url).signIn();
  const payment = await makePayment(admin, (await makeMethod(admin.at(other.url))).id);
  t.is((await callBack(admin.at(other.url), payment)).data.status, 'paid');
  const codes = await Promise.all([one, other, ...workers].map((process) => process.stop()));
  t.deepEqual(codes, [0, 0, 0, 0]);
});

test.serial('a start and the command line name the migration that fails', async (t) => {
  const env = { DB_NAME: fresh, REDIS_PREFIX: `${environment.REDIS_PREFIX}-fresh` };
  const name = '0028-operation-record';
  await db.query(`DELETE FROM \`${fresh}\`.migrations WHERE name = ?`, { replacements: [name] });
  await db.query(`RENAME TABLE \`${fresh}\`.operation_logs TO \`${fresh}\`.set_aside`);
  const failure = new RegExp(`migration ${name} failed: Table '\\S+operation_logs' doesn't exist`);
  await t.throwsAsync(startApi(env), { message: failure });
  t.regex((await runCli(['migrate', 'up'], env)).errors, failure);
});

test.serial("a starting process waits for another's migrations", async (t) => {
  const proxy = await beforeDatabase();
  t.teardown(() => proxy.close());
  const statements = proxy.listenIn();
  let release: (() => void) | undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const holding = underClaim('schema', () => held);
  const starting = startApi(proxy.env);
  await until(() => statements.filter((sql) => sql.startsWith('UPDATE claims')).length >= 4);
  t.false(statements.some((sql) => sql.includes('migrations')));
  release?.();
  await holding;
  const api = await starting;
  t.is((await service.anonymous.at(api.url).get('//readyz')).status, 200);
  await api.kill();
});

test.serial('production does not start with the default password', async (t) => {
  const production = { NODE_ENV: 'production', HOST: '127.0.0.1' };
  for (const start of [startApi, startWorkerProcess]) {
    const refused = await t.throwsAsync(start(production));
    t.regex(refused?.message ?? '', /still has the password admin123.*npm run cli -- admin password admin/);
  }
  const { output, errors, code } = await runCli(['admin', 'password', 'admin']);
  t.is(code, 0, errors);
  password = /is now (\S+)/.exec(output)?.[1] ?? '';
  t.true(password.length >= 16);
  t.is(
    (await service.admin.get('/heartbeat')).errorCode,
    'token_revoked',
    'sessions under the old one have ended',
  );
  const api = await startApi(production);
  const { data } = await service.anonymous.at(api.url).post('/login', { username: 'admin', password });
  t.true(data.password_must_change);
  await api.stop();
  await t.throwsAsync(startApi({ ...production, DB_NAME: `${fresh}_weak`, ADMIN_PASSWORD: 'Password1' }), {
    message: /ADMIN_PASSWORD is too common/,
  });
});

test.serial('DB_TLS refuses a server without TLS, and a misspelt setting is reported', async (t) => {
  const tls = { DB_TLS: 'true', DB_HOST: 'localhost', DB_STARTUP_WAIT_SECONDS: '0', DATABASE_URL: '' };
  const misspelt = { MODULE_PAYMENT_ENABLED: 'false', MODULE_PAYMENTS_ENABLED: '' };
  const { message = '' } = (await t.throwsAsync(startApi({ ...tls, ...misspelt }))) ?? {};
  t.regex(message, /does not support secure connection/);
  t.regex(
    message,
    /MODULE_PAYMENT_ENABLED is no setting and has no effect; is MODULE_PAYMENTS_ENABLED meant\?/,
  );
});

/** The line of the log that says why a process did not start; no stack stands in it. */
function fatalLine(output = ''): string {
  const line = /^\{"level":"fatal".*$/m.exec(output)?.[0] ?? '{}';
  return line.includes('    at ') ? 'a stack' : ((JSON.parse(line) as { msg?: string }).msg ?? '');
}

test.serial('wrong database credentials end a start at once', async (t) => {
  const [user, secret] = [`u_${environment.DB_NAME.slice(-8)}`, 'right-password'];
  await db.query(`CREATE USER '${user}'@'%' IDENTIFIED BY '${secret}'`);
  try {
    const wrong = { DATABASE_URL: '', DB_USER: user, DB_PASSWORD: 'wrong' };
    const unknown = { ...wrong, DB_PASSWORD: secret, DB_NAME: `${fresh}_none` };
    for (const [start, env, sentence] of [
      [startApi, wrong, `refuses the user "${user}" with this password: check DB_USER and DB_PASSWORD`],
      [startWorkerProcess, unknown, `refuses the user "${user}" the database "${fresh}_none"`],
    ] as const) {
      const refused = await t.throwsAsync(start(env));
      t.true(fatalLine(refused?.message).includes(sentence), refused?.message);
      t.notRegex(refused?.message ?? '', /waiting for the database/);
    }
  } finally {
    await db.query(`DROP USER '${user}'@'%'`);
  }
});

test.serial('an address that cannot be listened on is named', async (t) => {
  const refused = await t.throwsAsync(startApi({ HOST: '203.0.113.9' }));
  t.regex(fatalLine(refused?.message), /^HOST and PORT cannot be used: .*not available 203\.0\.113\.9/);
});

test('npm test does not run on production servers', async (t) => {
  const child = spawn(process.execPath, ['bin/test.mjs'], {
    cwd: config.root,
    env: { ...process.env, NODE_ENV: 'production' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += String(data)));
  const [code] = (await once(child, 'close')) as [number];
  t.is(code, 1);
  t.regex(output, /settings are those of production.*TEST_ON_CONFIGURED=1/s);
});

test('a run of AVA begins in a checkout without a build', async (t) => {
  const checkout = await mkdtemp(join(tmpdir(), 'checkout-'));
  t.teardown(() => rm(checkout, { recursive: true }));
  const run = `import { runAva } from '${join(config.root, 'bin/ava.mjs')}';
    const { code } = await runAva(['--version'], { cwd: '${checkout}', env: process.env, onLine() {} });
    process.exit(code);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', run]);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += String(data)));
  const [code] = (await once(child, 'close')) as [number];
  t.is(code, 0, output);
  t.deepEqual(await readdir(join(checkout, 'build')), ['test.log']);
});

test.serial('files are readable by this account only, also without a metrics port', async (t) => {
  const root = join(environment.STORAGE_ROOT, 'private');
  await mkdir(root, { recursive: true });
  await chmod(root, 0o755);
  const metrics = {
    METRICS_HOST: '203.0.113.9',
    METRICS_PORT: '9300',
    METRICS_TOKEN: 'a-token-of-the-test',
  };
  const api = await startApi({ ...metrics, STORAGE_ROOT: root });
  const admin = await service.anonymous.at(api.url).signIn({ username: 'admin', password });
  t.is((await admin.upload('/attachments/upload', 'a few words', { filename: 'a.txt' })).status, 200);
  const modes = new Set<string>();
  for (const entry of [root, ...(await readdir(root, { recursive: true })).map((name) => join(root, name))]) {
    const found = await stat(entry);
    modes.add(`${found.isDirectory() ? 'folder' : 'file'} ${(found.mode & 0o777).toString(8)}`);
  }
  t.deepEqual([...modes].sort(), ['file 600', 'folder 700']);
  await until(() => api.output().includes('API is listening'));
  await until(() =>
    /not available 203\.0\.113\.9:9300.*METRICS_HOST and METRICS_PORT cannot be used/.test(api.output()),
  );
  t.is(/no longer gets security fixes/.test(api.output()), Number.parseInt(process.versions.node, 10) < 22);
  await api.kill();
});

let admin: Client;

// Replacing APP_KEY: stored secrets and passwords stay usable throughout, and end up under the new key.

const [before, after] = [environment.APP_KEY, 'the-app-key-that-comes-after-it-and-is-long'];
const replacing = { APP_KEY: after, APP_KEY_PREVIOUS: `a-key-of-long-ago-nobody-uses, ${before}` };

const statusAt = async ({ url }: TestProcess, { username, password }: MadeAdmin) =>
  (await service.anonymous.at(url).post('/login', { username, password })).status;

async function paysAt({ url }: TestProcess, methodId: number): Promise<string | number> {
  const payment = await makePayment(admin, methodId);
  const body = mockCallback(payment, 'rotated');
  const answer = await service.anonymous.at(url).post('//api/payment/notify/mock', body);
  return answer.data?.status ?? answer.status;
}

async function rowOf(id: number): Promise<{ secrets: string; updated_at: Date }> {
  const [row] = await select<{ secrets: string; updated_at: Date }>(
    'SELECT secrets, updated_at FROM payment_methods WHERE id = ?',
    [id],
  );
  return row as NonNullable<typeof row>;
}

/** Creates a user, always under the same Idempotency-Key. */
const user = { username: unique('user'), password: 'secret-1' };
const createdAt = ({ url }: TestProcess) =>
  admin.at(url).post('/users', user, { 'Idempotency-Key': user.username });

const resealed = (id: number, secrets: string) => until(async () => (await rowOf(id)).secrets !== secrets);

test.serial('a key can be replaced in steps without downtime', async (t) => {
  admin = await service.anonymous.signIn({ username: 'admin', password });
  const { id } = await makeMethod(admin, 'rotated');
  const [active, absent] = [await makeAdmin(admin), await makeAdmin(admin)];
  const original = await rowOf(id);

  const [old, both] = await Promise.all([
    startApi({ APP_KEY_PREVIOUS: after }),
    startApi(replacing),
    startWorkerProcess({ APP_KEY_PREVIOUS: after }, 'payments'),
  ]);
  t.is(await paysAt(both, id), 'paid', 'a secret under the old key');
  const { id: made } = (await createdAt(old)).data;
  t.is((await createdAt(both)).data.id, made, 'a repeated request');
  t.deepEqual([await statusAt(both, active), await statusAt(both, active)], [200, 200]);
  t.is(await statusAt(both, { ...active, password: 'wrong' }), 401);
  t.is(await statusAt(both, { ...active, username: 'nobody' }), 401);
  const newer = await makeMethod(admin.at(both.url), 'rotated');
  t.is(await paysAt(old, newer.id), 'paid', 'processes that still seal under the old key know the new one');

  const worker = await startWorkerProcess(replacing, 'maintenance');
  await resealed(id, original.secrets);
  t.deepEqual((await rowOf(id)).updated_at, original.updated_at);
  const straggler = await makeMethod(admin.at(old.url), 'rotated');
  const { secrets } = await rowOf(straggler.id);
  await maintainTables.enqueue({ day: '2026-01-01' });
  await resealed(straggler.id, secrets);
  await worker.stop();

  const only = await startApi({ APP_KEY: after });
  for (const method of [id, newer.id, straggler.id]) t.is(await paysAt(only, method), 'paid');
  const forgotten = (await createdAt(only)).errorCode;
  t.is(forgotten, 'idempotency_key_reused', 'what is stored of a request says nothing without the key');
  t.is(await statusAt(only, active), 200, 'the password was hashed anew at the sign-in');
  t.is(await statusAt(only, absent), 401, 'who has not signed in since needs the previous key');
  t.is(await statusAt(both, absent), 200);
  t.is(await statusAt(only, absent), 200);
});

test.serial('a start under a wrong key is refused', async (t) => {
  const { id } = await makeMethod(admin, 'rotated');
  const { secrets } = await rowOf(id);
  const stranger = { APP_KEY: 'a-key-that-never-sealed-anything-here' };
  for (const start of [startApi, startWorkerProcess]) {
    const refused = await t.throwsAsync(start(stranger));
    t.regex(
      refused?.message ?? '',
      /APP_KEY is not the key of this database, nor is one of APP_KEY_PREVIOUS/,
    );
    t.notRegex(refused?.message ?? '', / {4}at /, 'a sentence, no stack');
  }
  t.is((await runCli(['admin', 'password', 'admin'], stranger)).code, 1);
  t.is((await runCli(['key', 'accept'], stranger)).code, 2, 'it asks, and nobody answers');
  const accepted = await runCli(['key', 'accept', '--yes'], stranger);
  t.is(accepted.code, 0);
  t.regex(accepted.output, /; give passwords/);
  t.notRegex((await runCli(['key', 'accept', '--yes'], stranger)).output, /passwords/, 'nothing is lost');
  const [api, worker] = await Promise.all([startApi(stranger), startWorkerProcess(stranger, 'maintenance')]);
  const payment = await makePayment(admin, id);
  const body = { ...mockCallback(payment), sign: mockSign(payment.payment_no, '12.30', 'rotated') };
  const answer = await service.anonymous.at(api.url).post('//api/payment/notify/mock', body);
  t.deepEqual(
    [answer.status, answer.errorCode],
    [503, 'payment_secret_unreadable'],
    'so that the provider tries again',
  );
  const caller = admin.at(api.url);
  t.is((await caller.get(`/payment-methods/${id}`)).data.has_shared_secret, true);
  t.is((await caller.put(`/payment-methods/${id}`, { name: 'Counter' })).data.name, 'Counter');
  await worker.stop();
  t.regex(worker.output(), /secrets could not be sealed again/);
  t.is((await rowOf(id)).secrets, secrets);
  t.is((await caller.put(`/payment-methods/${id}`, { shared_secret: 'entered anew' })).status, 200);
  const again = await service.anonymous.at(api.url).post('//api/payment/notify/mock', {
    ...body,
    sign: mockSign(payment.payment_no, '12.30', 'entered anew'),
  });
  t.is(again.status, 200);
});

test.serial('all migrations can be reverted and applied again', async (t) => {
  const before = await tablesOf(environment.DB_NAME);
  t.true(before.includes('payments'));
  await emptyDatabase();
  t.deepEqual(await tablesOf(environment.DB_NAME), ['claims', 'migrations']);
  await prepareDatabase(() => Promise.resolve());
  t.deepEqual(await tablesOf(environment.DB_NAME), before);
  await t.notThrowsAsync(select('SELECT * FROM payments'));
});
