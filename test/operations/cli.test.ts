// The command line of the operators, run as they run it: without the API, against the real servers.
import '../support/settings/environment.js';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { config } from '../../config/index.js';
import { change, select } from '../../src/lib/database/db.js';
import { storeFailure } from '../../src/models/office/failed-job.js';
import { makeAdmin, unique } from '../support/factories.js';
import { runCli } from '../support/processes.js';
import { serviceTest } from '../support/service-test.js';

const service = serviceTest({ withWorker: false });

/** What a command answers under --json. */
async function answerOf<T>(...args: string[]): Promise<{ data: T; code: number | null }> {
  const { output, errors, code } = await runCli(['--json', ...args]);
  if (output === '') throw new Error(errors);
  return { data: JSON.parse(output) as T, code };
}

const idsOfAdmins = async () => (await select<{ id: number }>('SELECT id FROM admins')).map(({ id }) => id);

test('one command creates an administrator and one unlocks it, both without the password in the log', async (t) => {
  const username = unique('operator');
  const { data: made } = await answerOf<{ password: string }>('admin', 'create', username);
  const signIn = (password: string) => service.anonymous.post('/login', { username, password });
  t.is((await signIn(made.password)).status, 200);
  const { countFailure } = await import('../../src/api/flows/sign-in-limits.js');
  // On a stalled machine one is counted twice: in Redis, and here because its answer was late.
  for (let attempt = 0; attempt < 5; attempt++)
    await countFailure({ ip: '127.0.0.1', username }).catch(() => undefined);
  t.is((await signIn(made.password)).errorCode, 'login_locked');
  await change('UPDATE admins SET status = 0 WHERE username = ?', [username]);
  const before = await idsOfAdmins();
  const { data } = await answerOf<{ forgotten: number }>('admin', 'unlock', username);
  t.true(data.forgotten >= 1);
  t.is((await signIn(made.password)).status, 200);
  const left = new Set(await idsOfAdmins());
  t.deepEqual(
    before.filter((id) => !left.has(id)),
    [],
    'nobody was deleted',
  );
  const { data: admins } = await answerOf<{ username: string; roles: string }[]>('admin', 'list');
  t.is(admins.find((one) => one.username === username)?.roles, 'super-admin');
  const traces = await select<{ module: string }>(
    'SELECT module, message, context FROM system_logs WHERE message LIKE ?',
    [`%admin % ${username}%`],
  );
  t.deepEqual(
    traces.map(({ module }) => module),
    ['cli', 'cli'],
  );
  t.false(JSON.stringify(traces).includes(made.password));
});

test('a value that the API would refuse, or that cannot be meant, is refused', async (t) => {
  const username = unique('n');
  for (const [problem, ...args] of [
    ['<username> may contain letters, digits and', 'admin', 'create', '<b>'],
    ['--nickname', 'admin', 'create', username, '--nickname', 'n'.repeat(51)],
    ['--address', 'admin', 'unlock', 'admin', '--address', '203.0.113.'],
    ['--minutes', 'payments', 'stuck', '--minutes', '1e99'],
    ['--days', 'demo', '--days', '0'],
    ['<refund_no>', 'refunds', 'ask', 'x'],
  ] as const) {
    const { code, errors } = await runCli([...args]);
    t.is(code, 2, errors);
    t.true(errors.startsWith(problem), errors);
  }
  t.deepEqual(await select('SELECT id FROM admins WHERE username IN (?)', [['<b>', username]]), []);
});

test('a command that fails is in the system log, because its trace is written first', async (t) => {
  const nobody = unique('nobody');
  t.is((await runCli(['admin', 'password', nobody])).code, 1);
  const traces = await select('SELECT message FROM system_logs WHERE message LIKE ?', [
    `%admin password ${nobody}%`,
  ]);
  t.is(traces.length, 1);
});

test('unseen characters of names and errors are escaped', async (t) => {
  const hidden = '\u001b]0;x\u0007\u009b2K\u202e\n';
  const { id } = await makeAdmin(service.admin);
  await change('UPDATE admins SET nickname = ? WHERE id = ?', [`${hidden}nick`, id]);
  const work = { queue: 'logs', job: 'gone-job', key: unique('k'), payload: {}, attempts: 3 } as const;
  await storeFailure({ ...work, traceId: 'T', error: new Error(`${hidden}why`) });
  for (const [args, text] of [
    [['admin', 'list'], 'nick'],
    [['jobs', 'list', '--queue', 'logs'], 'why'],
  ] as const) {
    const { output } = await runCli(args);
    t.true(output.includes(`\\u001b]0;x\\u0007\\u009b2K\\u202e\\u000a${text}`), output);
    t.notRegex(output, /[^\P{Cc}\n]|\p{Cf}/u);
  }
  t.notRegex((await runCli(['--json', 'admin', 'list'])).output, /[^\P{Cc}\n]|\p{Cf}/u);
});

test('failed work can be listed and dropped', async (t) => {
  const key = unique('key-');
  const error = new Error('no such order');
  const work = {
    queue: 'notifications',
    job: 'gone-job',
    key,
    payload: {},
    attempts: 3,
    traceId: 'T',
  } as const;
  await storeFailure({ ...work, error });
  const { data } = await answerOf<{ list: { id: number }[]; total: number }>(
    'jobs',
    'list',
    '--queue',
    'notifications',
  );
  t.is(data.total, 1);
  const id = String(data.list[0]?.id);
  const refused = await runCli(['jobs', 'retry', '999999999', id, id]);
  t.is(refused.code, 1, 'no job of this release');
  t.regex(refused.output, /^0 queued again, 2 cannot be$/m);
  for (const one of ['999999999', id]) t.regex(refused.output, new RegExp(`^${one}: \\S`, 'm'));
  t.like(await runCli(['jobs', 'drop', id, 'x']), { code: 2, errors: '"x" is no id\n' });
  const asked = `Forget failed jobs ${id}? Give --yes to have it done.\n`;
  t.like(await runCli(['jobs', 'drop', id, id]), { code: 2, errors: asked });
  t.is((await runCli(['jobs', 'drop', id, id, '--yes'])).code, 0);
  t.deepEqual(await select('SELECT id FROM failed_jobs WHERE job_key = ?', [key]), []);
});

test('one command unblocks an address', async (t) => {
  const listed = await service.admin.post('/blacklists', { ip: '2001:db8:7::/48' });
  const written = await runCli(['blacklist', 'remove', '2001:0DB8:0007::1/48', '--yes']);
  t.is(written.code, 0, written.errors);
  t.is((await service.admin.get(`/blacklists/${listed.data.id}`)).errorCode, 'blacklist_not_found');
  for (const unknown of ['2001:db8:7::/48', '茶']) {
    const { errors } = await runCli(['blacklist', 'remove', unknown, '--yes']);
    t.is(errors, 'The blacklist entry does not exist\n', unknown);
  }
  const [before] = await select<{ version: number }>(
    "SELECT version FROM versions WHERE scope = 'blacklist'",
  );
  t.is((await runCli(['cache', 'renew'])).code, 0);
  const [after] = await select<{ version: number }>("SELECT version FROM versions WHERE scope = 'blacklist'");
  t.true((after?.version ?? 0) > (before?.version ?? 0));
});

test('the doctor reports a wrong key, a misspelt setting and a storage without the files', async (t) => {
  interface Report {
    well: boolean;
    findings: { check: string; level: string; says: string }[];
  }
  t.is((await runCli(['--yes', 'storage', 'accept'])).code, 0);
  // Without a worker the jobs of other tests wait.
  const well = await runCli(['--json', 'doctor'], { REDIS_PREFIX: `${config.redis.prefix}-quiet` });
  const data = JSON.parse(well.output) as Report;
  t.deepEqual([data.well, well.code], [true, 0], JSON.stringify(data.findings));
  t.true(data.findings.some(({ check, level }) => check === 'key' && level === 'ok'));
  const wrong = await runCli(['--json', 'doctor'], {
    APP_KEY: 'some-other-key-that-is-long-enough',
    S3_REGIO: 'x',
    STORAGE_ROOT: join(config.storage.root, 'elsewhere'),
  });
  t.is(wrong.code, 1);
  const { findings } = JSON.parse(wrong.output) as Report;
  const levelOf = (name: string) => findings.find(({ check }) => check === name)?.level;
  t.deepEqual(['key', 'settings', 'files'].map(levelOf), ['fault', 'warning', 'fault']);
});

test('the doctor warns of addresses that nobody outside can use, and of payments without a signature', async (t) => {
  const { JWT_SECRET = '', APP_KEY = '' } = process.env;
  const production = { NODE_ENV: 'production', JWT_SECRET, APP_KEY };
  const account = { S3_BUCKET: 'files', S3_ACCESS_KEY_ID: 'a', S3_SECRET_ACCESS_KEY: 'b' };
  const s3 = { STORAGE_DRIVER: 's3', S3_ENDPOINT: 'http://127.0.0.1:1', ...account };
  const settings = async (env: Record<string, string>) =>
    (await runCli(['doctor'], { ...production, ...s3, ...env })).output;
  const local = await settings({ APP_URL: '' });
  t.regex(local, /^settings +warning .*APP_URL is http:\/\/localhost/m);
  t.notRegex(local, /S3_ENDPOINT is|UNSIGNED/);
  const APP_URL = 'https://pay.example.com';
  const open = { APP_URL, PAYMENT_UNSIGNED_MOCK_ALLOWED: 'true' };
  const exposed = await settings({ ...open, S3_PRESIGNED_DOWNLOADS: 'true' });
  t.regex(exposed, /^settings +warning .*S3_ENDPOINT is http/m);
  t.regex(exposed, /^settings +warning .*PAYMENT_UNSIGNED_MOCK_ALLOWED/m);
  t.notRegex(exposed, /APP_URL/);
  t.notRegex(await settings({ ...open, PAYMENT_GATEWAYS_ENABLED: 'wechat' }), /S3_ENDPOINT is|UNSIGNED/);
});

test('a command without its database says where it has looked for it', async (t) => {
  const { errors, code } = await runCli(['admin', 'list'], { DB_HOST: '127.0.0.1', DB_PORT: '1' });
  t.is(errors, 'no connection to the database at 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1\n');
  t.is(code, 1);
});

test('an answer that nobody reads is no failure, one that cannot be written is one', async (t) => {
  const running = promisify(execFile);
  const command = `"${process.execPath}" build/src/api/cli/main.js admin list`;
  for (const printing of [command, `"${process.execPath}" build/src/api/print-openapi.js`]) {
    const read = await running('bash', ['-c', `${printing} | true; exit \${PIPESTATUS[0]}`]);
    t.is(read.stderr, '', printing);
  }
  const written = await t.throwsAsync<Error & { code: number; stderr: string }>(
    running('bash', ['-c', `${command} > /dev/full`]),
  );
  t.is(written?.code, 1);
  t.regex(written?.stderr ?? '', /^ENOSPC: .*\n$/);
});

test('an invalid call exits with code 2', async (t) => {
  t.is((await runCli(['admin', 'frobnicate'])).code, 2);
  t.is((await runCli(['admin', 'list'], { PORT: 'x' })).code, 78);
  const { output, code } = await runCli(['--help']);
  t.is(code, 0);
  t.regex(output, /^Exit codes: 0 .*, 1 .*, 2 .*, 78 /m);
  const names = 'admin migrate jobs payments callbacks blacklist cache key prune doctor';
  for (const name of names.split(' ')) t.regex(output, new RegExp(`^ {2}${name}`, 'm'));
});
