// The limits on guessing passwords, shared by all processes, and on the work that guessing causes.
import '../support/settings/environment.js';
import '../support/settings/behind-proxies.js';
import '../support/settings/no-captchas.js';
import test from 'ava';
import { config } from '../../config/index.js';
import { makeAdmin, unique, type MadeAdmin } from '../support/factories.js';
import { connectionsAt, otherConnection } from '../support/other-connection.js';
import { startApi } from '../support/processes.js';
import { withoutRedis } from '../support/servers/redis.js';
import { serviceTest } from '../support/service-test.js';
import { outcome, type Answer, type Client } from '../support/client.js';
import { until } from '../support/until.js';

const service = serviceTest({ withWorker: false });
/** This process and another one, which trust a proxy. */
let proxied: [Client, Client];
/** This process, called without one. */
let direct: Client;
/** One without Redis, which trusts nobody. */
let alone: Client;
/** One that asks for captchas after failures, and takes few hashes at a time of one address. */
let cautious: Client;
/** One that hashes slowly. */
let slow: Client;
/** One that hashes slowly and waits for a hash less than one takes. */
let impatient: Client;

test.before(async () => {
  const settings: Record<string, string>[] = [
    {},
    { ...withoutRedis, TRUSTED_PROXIES: '' },
    { CAPTCHA_MODE: 'adaptive', BCRYPT_COST: '8', HASH_QUEUE: '32', HASH_QUEUE_PER_ADDRESS: '4' },
    { HASH_QUEUE_PER_ADDRESS: '2', HASH_CONCURRENCY: '2', BCRYPT_COST: '12' },
    { HASH_CONCURRENCY: '1', HASH_WAIT_MS: '100', BCRYPT_COST: '12' },
  ];
  const started = await Promise.all(settings.map((env) => startApi(env)));
  direct = service.anonymous;
  const clients = started.map(({ url }) => direct.at(url));
  proxied = [direct, clients[0] as Client];
  [alone, cautious, slow, impatient] = clients.slice(1) as [Client, Client, Client, Client];
});

const login = (
  client: Client,
  { username, password }: Pick<MadeAdmin, 'username' | 'password'>,
): Promise<Answer> => client.post('/login', { username, password });

const wrong = (client: Client, { username }: Pick<MadeAdmin, 'username'>): Promise<Answer> =>
  login(client, { username, password: 'wrong-1' });

const from = (client: Client, forwarded: string): Client => client.with({ 'X-Forwarded-For': forwarded });

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const statuses = (answers: Answer[], status: number): number =>
  answers.filter((answer) => answer.status === status).length;

test('the sixth attempt is locked out even with the right password', async (t) => {
  const account = await makeAdmin(service.admin);
  for (let time = 0; time < 5; time++) t.is((await wrong(direct, account)).status, 401);
  const locked = await login(direct, account);
  t.deepEqual(outcome(locked), [429, 10006, 'login_locked']);
  const seconds = Number(locked.headers.get('Retry-After'));
  t.true(seconds > 850 && seconds <= 900, `Retry-After is ${seconds}`);
  t.is((await login(from(proxied[0], '203.0.113.9'), account)).status, 200, 'another address is not locked');
});

test('CAPTCHA_MODE=off never requires a captcha', async (t) => {
  const account = await makeAdmin(service.admin);
  for (let time = 0; time < config.auth.captchaAfterFailures; time++) await wrong(direct, account);
  t.false((await direct.get(`/login/captcha?check=1&username=${account.username}`)).data.required);
  t.is((await login(direct, account)).status, 200);
});

for (const [what, refused] of [
  ['without the captcha they need', {}],
  ['with a wrong captcha', { captcha_id: 'unknown', captcha_code: 'abcde' }],
] as const)
  test(`attempts ${what} count like wrong passwords`, async (t) => {
    const [account, other] = [await makeAdmin(service.admin), await makeAdmin(service.admin)];
    const here = from(cautious, '198.51.104.1');
    const codes: number[] = [];
    for (let time = 0; time < config.auth.captchaAfterFailures; time++)
      codes.push((await wrong(here, account)).code);
    while (codes.length < config.auth.loginMaxAttempts)
      codes.push((await here.post('/login', { ...account, ...refused })).code);
    t.deepEqual(codes, [10001, 10001, 10005, 10005, 10005]);
    const locked = await login(here, account);
    t.deepEqual(outcome(locked), [429, 10006, 'login_locked']);
    t.true(Number(locked.headers.get('Retry-After')) > 850);
    t.is((await login(here, other)).status, 200, 'another name');
    t.is((await login(from(cautious, '198.51.104.2'), account)).status, 200, 'another address');
  });

test('refused captchas of many addresses do not lock a name', async (t) => {
  const account = await makeAdmin(service.admin);
  const forged = { ...account, captcha_id: 'unknown', captcha_code: 'abcde' };
  for (let time = 0; time <= config.auth.loginMaxPerUsernameHour; time++) {
    const { code } = await from(cautious, `198.51.105.${time}`).post('/login', forged);
    t.is(code, 10005);
  }
  t.is((await login(from(cautious, '203.0.113.79'), account)).status, 200);
});

test('outside production an address is not asked for a captcha because of other names', async (t) => {
  const here = from(cautious, '198.51.106.1');
  for (let time = 0; time < 60; time++) t.is((await wrong(here, { username: unique('nobody') })).status, 401);
  t.false((await here.get('/login/captcha?check=1&username=x')).data.required);
  t.is((await login(here, await makeAdmin(service.admin))).status, 200);
});

test('an unknown name is locked out like any other', async (t) => {
  const stranger = { username: unique('Nobody') };
  for (let time = 0; time < 5; time++) t.is((await wrong(direct, stranger)).status, 401);
  t.is((await wrong(direct, { username: stranger.username.toUpperCase() })).code, 10006);
});

test('at most five of twenty concurrent wrong attempts are checked', async (t) => {
  const account = await makeAdmin(service.admin);
  const clients = proxied.map((client) => from(client, '198.51.100.1')) as [Client, Client];
  const answers = await Promise.all(times(20, (index) => wrong(clients[index % 2] as Client, account)));
  t.true(statuses(answers, 401) <= 5, `${statuses(answers, 401)} answers tell that the password is wrong`);
  t.is(statuses(answers, 401) + statuses(answers, 429), 20);
  t.is((await login(clients[0], account)).code, 10006);
});

test('a right guess among many concurrent wrong ones does not open a locked name', async (t) => {
  const account = await makeAdmin(service.admin);
  const client = from(proxied[0], '198.51.100.2');
  await Promise.all(times(12, () => wrong(client, account)));
  const answers = await Promise.all(
    times(12, (index) => (index === 6 ? login(client, account) : wrong(client, account))),
  );
  t.is(statuses(answers, 429), 12);
});

test.serial('a right guess under way while its name is locked does not open it', async (t) => {
  const account = await makeAdmin(service.admin);
  const reading = () => connectionsAt(`%FROM \`admins\`%${account.username}%`);
  const holder = await otherConnection();
  await holder.query('LOCK TABLES admins WRITE');
  const guess = login(direct, account);
  await until(async () => (await reading()).length === 1);
  // Each is counted before it reads whose name it was.
  const forged = { ...account, captcha_id: 'unknown', captcha_code: 'abcde' };
  const others = times(config.auth.loginMaxAttempts, () => direct.post('/login', forged));
  await until(async () => (await reading()).length === 1 + others.length);
  await holder.end();
  t.is(statuses(await Promise.all(others), 400), others.length);
  const { status, code } = await guess;
  t.deepEqual([status, code], [429, 10006]);
});

test('a success resets the failures, also on a process without Redis', async (t) => {
  for (const client of [direct, alone]) {
    const account = await makeAdmin(service.admin);
    for (let round = 0; round < 3; round++) {
      for (let time = 0; time < 4; time++) t.is((await wrong(client, account)).status, 401);
      t.is((await login(client, account)).status, 200);
    }
  }
});

test.serial('many concurrent correct sign-ins lock nobody out', async (t) => {
  const account = await makeAdmin(service.admin);
  const answers = await Promise.all(times(32, (index) => login(proxied[index % 2] as Client, account)));
  t.is(statuses(answers, 200), 32);
});

test('fifty failures of one name over all addresses lock it everywhere', async (t) => {
  const account = await makeAdmin(service.admin);
  for (let time = 0; time < config.auth.loginMaxPerUsernameHour; time++) {
    const answer = await wrong(from(proxied[time % 2] as Client, `198.51.101.${time}`), account);
    t.is(answer.status, 401, `attempt ${time + 1}`);
  }
  const locked = await login(from(proxied[0], '203.0.113.77'), account);
  t.is(locked.code, 10006);
  t.true(Number(locked.headers.get('Retry-After')) > 3500);
});

test('a name locked for strangers stays open from its known addresses', async (t) => {
  const account = await makeAdmin(service.admin);
  const [home, moved] = ['2001:db8:7:7::1', '2001:db8:7:7::2'];
  const own = await from(proxied[0], home).signIn(account);
  for (let time = 0; time <= config.auth.loginMaxPerUsernameHour; time++)
    await wrong(from(proxied[time % 2] as Client, `198.51.103.${time}`), account);
  t.is((await login(from(proxied[0], '203.0.113.78'), account)).code, 10006, 'strangers are locked out');
  for (const address of [home, moved])
    t.is((await login(from(proxied[1], address), account)).status, 200, address);
  t.is((await login(from(proxied[0], '203.0.113.78'), account)).code, 10006, 'and stay so');
  for (let time = 0; time < 5; time++) t.is((await wrong(from(proxied[0], home), account)).status, 401);
  t.is((await login(from(proxied[0], home), account)).code, 10006, 'known addresses guess five times');
  const change = { old_password: account.password, password: 'secret-2', password_confirmation: 'secret-2' };
  t.is((await own.put('/password', change)).status, 200);
});

test('the client address is the nearest untrusted one in canonical form', async (t) => {
  const account = await makeAdmin(service.admin);
  const sameAddress = [
    '192.0.2.7',
    '::ffff:192.0.2.7',
    '203.0.113.1, 192.0.2.7',
    '192.0.2.7, 10.1.2.3',
    'garbage, 192.0.2.7, 10.9.9.9, 127.0.0.1',
  ];
  for (const forwarded of sameAddress) t.is((await wrong(from(proxied[0], forwarded), account)).status, 401);
  t.is((await login(from(proxied[1], '192.0.2.7'), account)).code, 10006);
  t.is((await login(from(proxied[1], '192.0.2.7, 192.0.2.8'), account)).status, 200);
});

test('a forged X-Forwarded-For is ignored without trusted proxies', async (t) => {
  const account = await makeAdmin(service.admin);
  for (let time = 0; time < 5; time++) {
    t.is((await wrong(from(alone, `198.51.102.${time}`), account)).status, 401);
  }
  t.is((await login(from(alone, '203.0.113.200'), account)).code, 10006);
});

test('a process without Redis counts attempts by itself', async (t) => {
  const account = await makeAdmin(service.admin);
  const answers = await Promise.all(times(12, () => wrong(alone, account)));
  t.true(statuses(answers, 401) <= 5);
  t.is((await login(alone, account)).code, 10006);
});

test.serial('a burst of sign-ins beyond the hash queue is refused', async (t) => {
  let hashed = 0;
  const burst = times(24, async () => {
    const sent = Date.now();
    const answer = await wrong(slow, { username: unique('nobody') });
    if (answer.status === 401) hashed++;
    return { ...answer, took: Date.now() - sent };
  });
  const admin = service.admin.at(slow.url);
  const others = await Promise.all(times(7, () => admin.get('/heartbeat')));
  t.true(others.every(({ status }) => status === 200));
  t.true(hashed < 4, 'other requests are answered while passwords are hashed');
  const answers = await Promise.all(burst);
  const outcomes = answers.map(({ status, errorCode }) => `${status} ${errorCode}`).join();
  // On a slow machine the turn of those that wait may not come in time.
  const taken = answers.filter(({ status, took }) => status === 401 || took >= config.auth.hashWaitMs);
  t.is(taken.length, 4, `two hash, two wait: ${outcomes}`);
  t.true(hashed >= 2, outcomes);
  const refused = answers.filter(({ status }) => status !== 401);
  t.is(refused.length, 24 - hashed);
  const isFree = async () => (await wrong(slow, { username: unique('nobody') })).status === 401;
  t.true(await until(isFree, 30_000, 500), 'the queue is free again');
  for (const { code, errorCode, headers } of refused) {
    t.deepEqual([code, errorCode, headers.get('Retry-After')], [429, 'too_many_requests', '1']);
  }
});

test.serial(
  'a sign-in whose hash does not get its turn in time is refused, and its hash is not made',
  async (t) => {
    const answers = await Promise.all(times(8, () => wrong(impatient, { username: unique('nobody') })));
    const refused = answers.filter(({ status }) => status !== 401);
    t.true(refused.length > 0 && refused.length < 8);
    for (const { status, errorCode, headers } of refused)
      t.deepEqual([status, errorCode, headers.get('Retry-After')], [429, 'too_many_requests', '1']);
    // A hash still to be made would take longer than this one waits.
    t.is((await wrong(impatient, { username: unique('nobody') })).status, 401);
  },
);

test('wrong old passwords are limited', async (t) => {
  const account = await makeAdmin(service.admin);
  const client = await direct.signIn(account);
  const change = (old_password: string): Promise<Answer> =>
    client.put('/password', { old_password, password: 'secret-2', password_confirmation: 'secret-2' });
  for (let time = 0; time < 3; time++) {
    const refused = await change('wrong-1');
    t.deepEqual([refused.status, refused.code, refused.fields], [422, 10001, ['old_password']]);
  }
  const answers = await Promise.all(
    times(12, (index) => change(index === 11 ? account.password : 'wrong-1')),
  );
  t.deepEqual([statuses(answers, 422), statuses(answers, 429)], [2, 10]);
  t.is((await login(direct, account)).status, 200, 'signing in is another matter');
  t.is((await client.get('/heartbeat')).status, 200, 'the session continues');
});

test.serial('hashing for one address leaves capacity for others', async (t) => {
  // Sign-ins of one account wait for each other.
  const accounts = await Promise.all(times(5, () => makeAdmin(service.admin)));
  const flood = times(60, (index) =>
    from(cautious, '198.51.100.90').post('/login', {
      username: `${unique('nobody')}${index}`,
      password: 'x',
    }),
  );
  const answers = await Promise.all(
    times(20, (index) => login(from(cautious, `203.0.117.${index}`), accounts[index % 5] as MadeAdmin)),
  );
  t.is(statuses(answers, 200), 20, answers.map(({ status, errorCode }) => `${status} ${errorCode}`).join());
  const flooded = await Promise.all(flood);
  t.true(statuses(flooded, 429) > 0, 'what is beyond the share of an address is refused');
});

test('captchas per address are limited across processes', async (t) => {
  const [one, other] = proxied.map((client) => from(client, '198.51.100.77')) as [Client, Client];
  const answers: Answer[] = [];
  for (let index = 0; index < 10; index++)
    answers.push(await (index % 2 ? one : other).get('/login/captcha'));
  t.deepEqual([statuses(answers, 200), statuses(answers, 429)], [6, 4]);
  const refused = await one.get('/login/captcha');
  t.deepEqual(outcome(refused), [429, 429, 'too_many_requests']);
  const wait = Number(refused.headers.get('Retry-After'));
  t.true(wait > 0 && wait <= 60, `${wait} s`);
  t.is((await one.get('/login/captcha?check=1')).status, 200);
  t.is((await from(proxied[0], '198.51.100.78').get('/login/captcha')).status, 200);
});
