// Two tenants and a deployment without one, side by side on one database server and one Redis.
import '../support/settings/environment.js';
import '../support/settings/tenant.js';
import test from 'ava';
import { keysLike } from '../support/servers/redis.js';
import { environment } from '../support/settings/environment.js';
import { db, select } from '../../src/lib/database/db.js';
import { outcome, type Client } from '../support/client.js';
import { makeMethod, makePayment, mockCallback, unique } from '../support/factories.js';
import { killProcesses, startApi, startWorkerProcess } from '../support/processes.js';
import { startService, type Service } from '../support/service.js';
import { openSocket, ticketOf } from '../support/socket.js';
import { until } from '../support/until.js';

interface Deployment {
  code: string;
  url: string;
  admin: Client;
  anonymous: Client;
}

let service: Service;
/** That of this process. */
let acme: Deployment;
let globex: Deployment;
/** Without a tenant. */
let plain: Deployment;
const databaseOf = (code: string): string => `${environment.DB_NAME}${code && `_${code}`}`;

/** A deployment by an API process. */
async function deployed(code: string): Promise<Deployment> {
  const { url } = await startApi(settingsOf(code));
  const anonymous = service.anonymous.at(url);
  return { code, url, anonymous, admin: await anonymous.signIn() };
}

const settingsOf = (code: string) => ({ DB_NAME: environment.DB_NAME, TENANT_CODE: code });

test.before(async () => {
  // The settings name the database without its tenant, `startService` needs it as it is.
  process.env.DB_NAME = databaseOf('acme');
  service = await startService();
  acme = { code: 'acme', ...service };
  [globex, plain] = await Promise.all([
    deployed('globex'),
    deployed(''),
    startWorkerProcess(settingsOf('globex')),
  ]);
});

test.after.always(async () => {
  await killProcesses();
  for (const code of ['globex', '']) await db.query(`DROP DATABASE IF EXISTS \`${databaseOf(code)}\``);
  await service.stop();
});

const notify = ({ anonymous }: Deployment, code: string, body: object) =>
  anonymous.post(`//api/payment/notify/mock/${code}`, body);

test.serial('a session of one tenant is invalid for another', async (t) => {
  for (const stranger of [acme.admin.at(globex.url), acme.admin.at(plain.url), plain.admin.at(acme.url)]) {
    const answer = await stranger.get('/info');
    t.deepEqual([answer.status, answer.errorCode], [401, 'token_revoked']);
  }
});

test.serial('payments are visible only to their tenant', async (t) => {
  const [method, other] = await Promise.all([makeMethod(acme.admin), makeMethod(globex.admin)]);
  const payment = await makePayment(acme.admin, method.id);
  await makePayment(globex.admin, other.id);
  for (const { admin } of [globex, plain]) {
    t.is((await admin.get(`/payments/${payment.payment_no}`)).status, 404);
    t.is((await admin.get(`/orders/${payment.order_no}`)).status, 404);
    t.is((await admin.get(`/payments?payment_no=${payment.payment_no}`)).data.total, 0);
  }
  const body = mockCallback(payment);
  for (const [path, status, errorCode] of [
    ['', 400, 'tenant_required'],
    ['/globex', 404, 'tenant_not_found'],
    ['/ACME', 404, 'tenant_not_found'],
  ] as const) {
    const answer = await acme.anonymous.post(`//api/payment/notify/mock${path}`, body);
    t.deepEqual(outcome(answer), [status, status, errorCode], path);
  }
  const stranger = await plain.anonymous.post('//api/payment/notify/mock/acme', body);
  t.is(stranger.errorCode, 'route_not_found', 'a deployment without tenants');
  t.is((await notify(globex, 'globex', body)).errorCode, 'payment_not_found');
  t.is((await notify(acme, 'acme', body)).data.status, 'paid');
  const counts = ['acme', 'globex', ''].map(
    (code) =>
      `SELECT '${code}' AS tenant, status, COUNT(*) AS total FROM \`${databaseOf(code)}\`.payments GROUP BY status`,
  );
  const rows = await select<object>(counts.join(' UNION ALL '));
  t.deepEqual(rows, [
    { tenant: 'acme', status: 'paid', total: 1 },
    { tenant: 'globex', status: 'pending', total: 1 },
  ]);
});

test.serial('tenants can use the same Idempotency-Key, code and third-party number', async (t) => {
  const [key, code, transaction_id] = [unique('key-'), unique('code_'), unique('T-')];
  const numbers = await Promise.all(
    [acme, globex].map(async (one) => {
      const { id } = await makeMethod(one.admin, 'shared secret', { code });
      const { order_no } = await makePayment(one.admin, id);
      const request = { order_no, payment_method_id: id, initiate: true };
      const { data } = await one.admin.post('/payments', request, { 'Idempotency-Key': key });
      t.is(data.gateway.notify_url, `https://back-office.test/api/payment/notify/mock/${one.code}`);
      const paid = await notify(one, one.code, { ...mockCallback(data), transaction_id });
      t.is(paid.data.status, 'paid');
      return data.payment_no;
    }),
  );
  t.is(new Set(numbers).size, 2);
});

test.serial('notifications, blocked addresses and failed sign-ins are stored per tenant', async (t) => {
  const sockets = await Promise.all(
    [acme, globex].map(async ({ url, admin }) => openSocket(url, await ticketOf(admin))),
  );
  const [own, others] = sockets as [(typeof sockets)[0], (typeof sockets)[0]];
  await acme.admin.post('/notifications', { title: 'for acme', content: 'x' });
  await own.frame('notification');
  await globex.admin.post('/notifications', { title: 'for globex', content: 'x' });
  await others.frame('notification');
  t.deepEqual(
    others.frames.filter(({ type }) => type === 'notification').map(({ data }) => data?.title),
    ['for globex'],
  );
  for (const { socket } of sockets) socket.close();

  await acme.admin.post('/blacklists', { ip: '203.0.113.0/24' });
  t.deepEqual((await globex.admin.get('/blacklists')).data.list, []);

  for (let tries = 0; tries < 3; tries++) {
    await acme.anonymous.post('/login', { username: 'somebody', password: 'wrong' });
  }
  const login = ({ anonymous }: Deployment) =>
    anonymous.post('/login', { username: 'somebody', password: 'wrong' });
  t.is((await login(acme)).errorCode, 'captcha_required');
  t.is((await login(globex)).errorCode, 'username_or_password_error');
});

test.serial('every Redis key has the prefix of its tenant', async (t) => {
  const entries = (code: string) =>
    select(`SELECT 1 FROM \`${databaseOf(code)}\`.operation_logs WHERE path = '/api/admin/blacklists'`);
  await until(async () => (await entries('acme')).length === 1);
  t.deepEqual(await entries('globex'), []);
  const keys = await keysLike(`{${environment.REDIS_PREFIX}*`);
  const own = new RegExp(`^\\{${environment.REDIS_PREFIX}(-acme|-globex)?(-[a-z]+)?\\}:`);
  t.deepEqual(
    keys.filter((key) => !own.test(key)),
    [],
  );
  for (const code of ['acme', 'globex']) {
    t.true(
      keys.some((key) => key.startsWith(`{${environment.REDIS_PREFIX}-${code}}`)),
      code,
    );
    t.true(
      keys.some((key) => key.startsWith(`{${environment.REDIS_PREFIX}-${code}-payments}`)),
      code,
    );
  }
});
