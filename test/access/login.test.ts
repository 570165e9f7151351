// Signing in: the answer, what it stores, what it never discloses, and captchas.
import '../support/settings/shared-environment.js';
import test from 'ava';
import { config } from '../../config/index.js';
import { change, select, transact } from '../../src/lib/database/db.js';
import { connectRedis, key, patientRedis as redis } from '../../src/lib/redis/redis.js';
import { verifyToken } from '../../src/lib/secrets/token.js';
import { makeAdmin, unique, type MadeAdmin } from '../support/factories.js';
import { beforeRedis } from '../support/servers/faulty-proxy.js';
import { killProcesses, startApi, type TestProcess } from '../support/processes.js';
import { service } from '../support/shared-service.js';
import { outcome, type Answer, type Client } from '../support/client.js';
import { connectionsAt } from '../support/other-connection.js';
import { selectRow } from '../support/rows.js';
import { until } from '../support/until.js';

let strict: TestProcess;
/** It hashes slowly, and Redis can be taken away from it. */
let costly: TestProcess;
let proxy: Awaited<ReturnType<typeof beforeRedis>>;

test.before(async () => {
  await connectRedis();
  proxy = await beforeRedis();
  [strict, costly] = await Promise.all([
    startApi({ CAPTCHA_MODE: 'always', CAPTCHA_TTL_SECONDS: '10' }),
    startApi({ BCRYPT_COST: '11', ...proxy.env }),
  ]);
});

test.after.always(async () => {
  await killProcesses();
  proxy?.close();
});

const login = (
  client: Client,
  { username, password }: { username: string; password: string },
  more: object = {},
) => client.post('/login', { username, password, ...more });

const captcha = async (client: Client): Promise<{ captcha_id: string; captcha_code: string }> => {
  const { captcha_id } = (await client.get('/login/captcha')).data;
  return { captcha_id, captcha_code: (await redis.get(key('captcha', captcha_id))) as string };
};

/** An administrator whose next sign-in needs a captcha. */
async function suspected(): Promise<MadeAdmin> {
  const account = await makeAdmin(service.admin);
  for (let time = 0; time < config.auth.captchaAfterFailures; time++) {
    await login(service.anonymous, { ...account, password: 'wrong-1' });
  }
  return account;
}

test('a sign-in returns a token for ten hours and the administrator', async (t) => {
  const account = await makeAdmin(service.admin, [], { avatar: '/a.png' });
  const { status, data } = await login(service.anonymous, account);
  t.is(status, 200);
  t.deepEqual(data.admin, {
    id: account.id,
    username: account.username,
    nickname: account.username,
    avatar: '/a.png',
  });
  const lasts = (Date.parse(data.expires_at) - Date.now()) / 60_000;
  t.true(lasts > 598 && lasts <= 600, `it lasts ${lasts} minutes`);
  t.regex(data.expires_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/);
  t.notThrows(() => verifyToken(data.token));
});

interface SessionRow {
  jti: string;
  ip: string;
  user_agent: string;
  browser: string;
  os: string;
  revoked_at: Date | null;
  expires_at: Date;
}

interface LoginRow {
  admin_id: number;
  status: number;
  outcome: string;
  os: string;
}

test('a sign-in stores a session of its own, its time and a login-log entry', async (t) => {
  const account = await makeAdmin(service.admin);
  const userAgent =
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/126.0.0.0 Safari/537.36';
  const { data } = await login(service.anonymous.with({ 'User-Agent': userAgent }), account);
  const [session, ...more] = await select<SessionRow>('SELECT * FROM admin_sessions WHERE admin_id = ?', [
    account.id,
  ]);
  t.is(more.length, 0);
  t.is(session?.jti, verifyToken(data.token).jti);
  t.deepEqual(
    [session?.ip, session?.user_agent, session?.browser, session?.os, session?.revoked_at],
    ['127.0.0.1', userAgent, 'Chrome 126', 'Windows 10', null],
  );
  t.is(session?.expires_at.toISOString(), data.expires_at);
  const shown = (await service.admin.get(`/admins/${account.id}`)).data;
  t.true(Math.abs(Date.parse(shown.last_login_at) - Date.now()) < 10_000);
  const logged = await until(
    async () =>
      (await select<LoginRow>('SELECT * FROM login_logs WHERE username = ?', [account.username]))[0],
  );
  t.deepEqual(
    [logged.admin_id, logged.status, logged.outcome, logged.os],
    [account.id, 1, 'login_success', 'Windows 10'],
  );
  const again = (await login(service.anonymous, account)).data;
  t.not(verifyToken(again.token).jti, session?.jti);
});

test('a wrong password and an unknown name get the same answer', async (t) => {
  const account = await makeAdmin(service.admin);
  const refused = await login(service.anonymous, { ...account, password: 'wrong-1' });
  const unknown = await login(service.anonymous, { username: unique('nobody'), password: 'wrong-1' });
  t.is(refused.status, 401);
  t.is(refused.code, 10001);
  const visible = ({ status, code, message, errorCode, errors, data }: Answer) => [
    status,
    code,
    message,
    errorCode,
    errors,
    data,
  ];
  t.deepEqual(visible(unknown), visible(refused));
});

test.serial('an unknown name takes as long as a wrong password', async (t) => {
  const owner = service.admin.at(costly.url);
  // Of two failures each: a third needs a captcha.
  const accounts = [await makeAdmin(owner), await makeAdmin(owner)] as const;
  // The time is the fact: it must not tell whether a name exists.
  const measured = async (username: string): Promise<number> => {
    const started = performance.now();
    t.is((await login(owner, { username, password: 'wrong-1' })).status, 401);
    return performance.now() - started;
  };
  const [known, unknown]: [number[], number[]] = [[], []];
  for (let time = 0; time < 4; time++) {
    known.push(await measured((accounts[time % 2] as MadeAdmin).username));
    unknown.push(await measured(unique('nobody')));
  }
  const median = (times: number[]): number => times.sort((one, other) => one - other)[2] as number;
  const [expected, actual] = [median(known), median(unknown)];
  t.true(expected > 30, `a comparison takes ${expected} ms`);
  t.true(
    actual > expected / 2.5 && actual < expected * 2.5,
    `${actual} ms for a stranger, else ${expected} ms`,
  );
});

test('a name that only the collation considers equal is unknown', async (t) => {
  const { username, password } = await makeAdmin(service.admin, [], { username: unique('eve') });
  for (const similar of [`${username} `, username.replace('eve', 'évé'), username.replace('eve', 'ｅve')]) {
    t.is((await login(service.anonymous, { username: similar, password })).code, 10001, similar);
  }
  t.is((await login(service.anonymous, { username: username.toUpperCase(), password })).status, 200);
});

test('only the right password reveals that an account is disabled', async (t) => {
  const account = await makeAdmin(service.admin, [], { status: 0 });
  t.is((await login(service.anonymous, { ...account, password: 'wrong-1' })).code, 10001);
  const refused = await login(service.anonymous, account);
  t.deepEqual(outcome(refused), [403, 10002, 'account_disabled']);
});

const meanwhile = {
  deleted: 'DELETE FROM admins WHERE id = ?',
  disabled: 'UPDATE admins SET status = 0 WHERE id = ?',
  'given another password': `UPDATE admins SET password_hash = 'another' WHERE id = ?`,
};

for (const [what, sql] of Object.entries(meanwhile)) signsInMeanwhile(what, sql);

function signsInMeanwhile(what: string, sql: string): void {
  test(`an administrator who is ${what} during the sign-in gets no session`, async (t) => {
    const account = await makeAdmin(service.admin);
    let answer: Promise<Answer> | undefined;
    await transact(async (own) => {
      await change(sql, [account.id], own);
      answer = service.anonymous.post('/login', {
        username: account.username,
        password: account.password,
      });
      await until(
        async () => (await connectionsAt(`%FROM \`admins\`%= ${account.id} %FOR UPDATE%`)).length > 0,
      );
    });
    const { status, code } = (await answer) as Answer;
    t.deepEqual([status, code], [401, 10001]);
    t.deepEqual(await select('SELECT id FROM admin_sessions WHERE admin_id = ?', [account.id]), []);
  });
}

test('an invalid body is refused first', async (t) => {
  const { anonymous } = service;
  t.is((await anonymous.post('/login', { username: 'admin' })).status, 400);
  t.is((await anonymous.post('/login', { username: ['admin'], password: 'admin123' })).status, 400);
  t.is((await anonymous.post('/login', { username: { $ne: '' }, password: 'admin123' })).status, 400);
  t.is((await anonymous.post('/login', { username: '', password: 'admin123' })).status, 422);
  t.is((await anonymous.post('/login', { username: 'a'.repeat(101), password: 'admin123' })).status, 422);
});

test('a captcha is required after two failures of a name from one address', async (t) => {
  const account = await suspected();
  const asked = await service.anonymous.get(`/login/captcha?check=1&username=${account.username}`);
  t.deepEqual(asked.data, { captcha_id: null, captcha_image: null, required: true, expires_in: 120 });
  const refused = await login(service.anonymous, account);
  t.deepEqual(outcome(refused), [400, 10005, 'captcha_required']);
  const other = await service.anonymous.get(`/login/captcha?check=true&username=${unique('nobody')}`);
  t.false(other.data.required);
  t.is((await login(service.anonymous, account, await captcha(service.anonymous))).status, 200);
  t.is((await login(service.anonymous, account)).status, 200, 'a success forgets the failures');
});

test.serial('failures counted without Redis still count when it is back', async (t) => {
  const caller = service.anonymous.at(costly.url);
  const account = await makeAdmin(service.admin);
  const fails = async () =>
    t.is((await login(caller, { ...account, password: 'wrong-1' })).errorCode, 'username_or_password_error');
  for (let time = 1; time < config.auth.captchaAfterFailures; time++) await fails();
  proxy.refuse();
  await fails();
  proxy.pass();
  await until(async () => (await caller.get('//readyz')).data.redis === 'ok');
  const asked = await caller.get(`/login/captcha?check=1&username=${account.username}`);
  t.true(asked.data.required);
});

test('captcha answers are case-insensitive', async (t) => {
  const account = await suspected();
  const { captcha_id, captcha_code } = await captcha(service.anonymous);
  const answer = { captcha_id, captcha_answer: ` ${captcha_code.toUpperCase()} ` };
  t.is((await login(service.anonymous, account, answer)).status, 200);
});

test('a captcha is used up by its first check', async (t) => {
  const account = await makeAdmin(service.admin);
  const right = await captcha(service.anonymous);
  t.is((await login(service.anonymous, account, right)).status, 200);
  t.is((await login(service.anonymous, account, right)).code, 10005, 'reused');
  const guessed = await captcha(service.anonymous);
  t.is((await login(service.anonymous, account, { ...guessed, captcha_code: '00000' })).code, 10005);
  t.is((await login(service.anonymous, account, guessed)).errorCode, 'captcha_invalid', 'guessed at before');
  const [racer, raced] = [await makeAdmin(service.admin), await captcha(service.anonymous)];
  const answers = await Promise.all(
    Array.from({ length: config.auth.loginMaxAttempts }, () => login(service.anonymous, racer, raced)),
  );
  t.is(answers.filter(({ status }) => status === 200).length, 1);
});

test('a captcha that is sent is checked even if none is required', async (t) => {
  const account = await makeAdmin(service.admin);
  for (const wrong of [
    { captcha_id: 'unknown', captcha_code: 'abcde' },
    { captcha_id: 'unknown' },
    { captcha_code: 'abcde' },
  ]) {
    const refused = await login(service.anonymous, account, wrong);
    t.deepEqual([refused.status, refused.code], [400, 10005], JSON.stringify(wrong));
  }
  const { data } = await service.anonymous.get(`/login/captcha?check=1&username=${account.username}`);
  t.true(data.required, 'each was an attempt');
});

test('CAPTCHA_MODE=always requires a captcha from everyone', async (t) => {
  const account = await makeAdmin(service.admin);
  const client = service.anonymous.at(strict.url);
  t.true((await client.get('/login/captcha?check=1')).data.required);
  t.is((await login(client, account)).errorCode, 'captcha_required');
  t.is((await login(client, account, await captcha(client))).status, 200);
  const late = await captcha(client);
  await redis.pexpire(key('captcha', late.captcha_id), 1);
  await until(async () => (await redis.exists(key('captcha', late.captcha_id))) === 0);
  t.is((await login(client, account, late)).errorCode, 'captcha_invalid');
});

test('concurrent sign-ins that rehash a password all succeed', async (t) => {
  const account = await makeAdmin(service.admin);
  const answers = await Promise.all([1, 2, 3].map(() => login(service.anonymous.at(costly.url), account)));
  t.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
});

test('a sign-in rehashes the password when the cost has changed', async (t) => {
  const account = await makeAdmin(service.admin);
  const hash = async (): Promise<string> =>
    (
      await selectRow<{ password_hash: string }>('SELECT password_hash FROM admins WHERE id = ?', [
        account.id,
      ])
    ).password_hash;
  t.regex(await hash(), /^\$2b\$04\$/);
  t.is((await login(service.anonymous.at(costly.url), { ...account, password: 'wrong-1' })).status, 401);
  t.regex(await hash(), /^\$2b\$04\$/);
  t.is((await login(service.anonymous.at(costly.url), account)).status, 200);
  t.regex(await hash(), /^\$2b\$11\$/);
  t.is((await login(service.anonymous, account)).status, 200);
});

const pngOf = ({ captcha_image }: { captcha_image: string }): Buffer =>
  Buffer.from(captcha_image.replace('data:image/png;base64,', ''), 'base64');

async function shown() {
  const { data } = await service.anonymous.get('/login/captcha');
  return { png: pngOf(data), answer: (await redis.get(key('captcha', data.captcha_id))) as string };
}

test.serial('a captcha is a picture whose text is nowhere in what is sent, and expires', async (t) => {
  const { data } = await service.anonymous.get('/login/captcha');
  t.deepEqual([data.required, data.expires_in], [false, 120]);
  t.true(Buffer.from(data.captcha_id, 'base64url').length >= 16);
  const name = key('captcha', data.captcha_id);
  const answer = (await redis.get(name)) as string;
  t.regex(answer, /^[2-9a-hj-np-z]{5}$/);
  const seconds = await redis.ttl(name);
  t.true(seconds > 110 && seconds <= 120);
  const bytes = pngOf(data).toString('latin1');
  t.true(bytes.startsWith('\x89PNG'));
  t.true(bytes.length > 2000, `an empty picture takes few bytes, this one ${bytes.length}`);
  for (const sent of [data.captcha_id, bytes]) t.false(sent.toLowerCase().includes(answer));
});

test.serial('a captcha is large enough to read', async (t) => {
  const [one, other] = [await shown(), await shown()];
  const [width, height] = [one.png.readUInt32BE(16), one.png.readUInt32BE(20)];
  t.true(width >= 120 && height >= 40, `${width} × ${height}`);
  t.false(one.png.equals(other.png));
});

test.serial('captchas use no ambiguous characters', async (t) => {
  const letters = new Set<string>();
  for (let time = 0; time < 60; time++) for (const letter of (await shown()).answer) letters.add(letter);
  t.deepEqual(
    [...'0o1ilqz2s5b8gcuv'].filter((letter) => letters.has(letter)),
    [],
  );
  t.true(letters.size >= 15, [...letters].join(''));
});
