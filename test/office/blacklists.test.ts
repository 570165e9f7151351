// /blacklists: canonical ranges, enforced first.
import '../support/settings/environment.js';
import '../support/settings/trusted-proxy.js';
import test from 'ava';
import { callBack, makeAdmin, makePayment } from '../support/factories.js';
import { serviceTest } from '../support/service-test.js';
import { openSocket, ticketOf } from '../support/socket.js';
import { until } from '../support/until.js';

const service = serviceTest();

const add = (ip: string, more: object = {}) => service.admin.post('/blacklists', { ip, ...more });
const from = (address: string) => service.admin.with({ 'X-Forwarded-For': address });

for (const [given, canonical] of [
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.8', '203.0.113.8'],
  ['203.0.114.77/24', '203.0.114.0/24'],
  ['203.0.115.1/32', '203.0.115.1'],
  ['203.0.117.1 /24', '203.0.117.0/24'],
  ['203.0.116.1 - 203.0.116.9', '203.0.116.1-203.0.116.9'],
  ['2001:0DB8:0000::0001', '2001:db8::1'],
  ['2001:db8:1::ff/48', '2001:db8:1::/48'],
  ['2001:db8:2::1-2001:db8:2::ff', '2001:db8:2::1-2001:db8:2::ff'],
] as const) {
  test(`${given} is stored as ${canonical}`, async (t) => {
    const made = await add(given);
    t.is(made.status, 200);
    t.is(made.data.ip, canonical);
    const again = await add(canonical);
    t.is(again.status, 422);
    t.is(again.code, 30002);
  });
}

test('an address is found in every notation', async (t) => {
  await add('2001:db8:77::5');
  const account = await makeAdmin(service.admin);
  const own = await from('2001:db8:77::6').signIn(account);
  await own.post('/notifications/read-all');
  const found = async (path: string) => (await service.admin.get(path)).data.total as number;
  for (const part of ['2001:0DB8:0077:0000:0000:0000:0000:000', '2001:DB8:77:0:0:0:0:', ' 2001:db8:77::']) {
    const [blocked, used] = [encodeURIComponent(`${part}5`), encodeURIComponent(`${part}6`)];
    t.is(await found(`/blacklists?ip=${blocked}`), 1, part);
    t.is(await found(`/online-admins?ip=${used}`), 1, part);
    for (const logs of ['login-logs', 'operation-logs'])
      await until(async () => (await found(`/${logs}?username=${account.username}&ip=${used}`)) === 1);
  }
  t.is(await found('/blacklists?ip=2001:DB8:77'), 1);
});

for (const wrong of [
  ...[
    '010.0.0.1',
    '0x7f.1',
    '1.2.3',
    '16909060',
    '1.2.3.4.5',
    '256.1.1.1',
    '1.2.3.4/33',
    '1.2.3.4/',
    '1.2.3.4/08',
  ],
  ...[
    '9.9.9.9-9.9.9.1',
    '1.2.3.4-::5',
    '::1/129',
    '1.1.1.1-2.2.2.2-3.3.3.3',
    'fe80::1%eth0',
    ...['::1::', '[::1]', '１.2.3.4', '1.2.3.4:80'],
    'all',
    '-',
    '/',
  ],
  ...[
    '203.0.113.1-50',
    '203.0.113.1-nobody',
    '203.0.113.1-',
    '203.0.113.1 -',
    '-203.0.113.1',
    '2001:db8::1-',
    '203.0.113.1--203.0.113.9',
    'a-b-c',
    // It could mean 32 bits or 128.
    '::ffff:203.0.113.1/24',
    '::ffff:203.0.113.1/120',
  ],
]) {
  test(`${wrong} is refused as an address`, async (t) => {
    const refused = await add(wrong);
    t.is(refused.status, 422);
    t.is(refused.code, 30004);
    t.truthy(refused.errors?.ip);
  });
}

test('an entry that covers its author is taken while it is disabled', async (t) => {
  const { id } = (await service.admin.post('/blacklists', { ip: '127.0.0.0/28', status: 0 })).data;
  const change = (body: object) => service.admin.put(`/blacklists/${id}`, body);
  t.is((await change({ remark: 'x' })).status, 200);
  t.is((await change({ status: 1 })).errorCode, 'blacklist_covers_self');
});

test('an entry that covers its author is refused', async (t) => {
  for (const ip of ['127.0.0.1', '127.0.0.0/8', '0.0.0.0/0', '126.0.0.0-128.0.0.0']) {
    t.is((await add(ip)).errorCode, 'blacklist_covers_self');
  }
  const { id } = (await add('198.18.0.1')).data;
  t.is(
    (await service.admin.put(`/blacklists/${id}`, { ip: '127.0.0.0/30' })).errorCode,
    'blacklist_covers_self',
  );
  t.is((await service.admin.get('/blacklists')).data.client_ip, '127.0.0.1');
});

test('a blocked address is refused everywhere except health checks', async (t) => {
  const payment = await makePayment(service.admin);
  const client = from('198.51.101.1');
  const ticket = await ticketOf(client);
  await add('198.51.101.0/24');
  const anonymous = client.with({ Authorization: '' });
  t.is((await anonymous.post('/login', { username: 'admin', password: 'admin123' })).errorCode, 'ip_blocked');
  t.is((await anonymous.get('/info')).errorCode, 'ip_blocked');
  t.is((await anonymous.get('/info?timezone=nowhere')).errorCode, 'ip_blocked');
  t.is((await callBack(anonymous, payment)).errorCode, 'ip_blocked');
  t.is((await service.admin.get(`/payments/${payment.payment_no}`)).data.status, 'pending');
  t.is((await anonymous.get('//healthz')).status, 200);
  await t.throwsAsync(openSocket(service.url, ticket, { 'X-Forwarded-For': '198.51.101.1' }), {
    message: '403',
  });
});

test('an address counts that a proxy writes with its port', async (t) => {
  for (const ip of ['203.0.116.7', '2001:db8:78::7']) await add(ip);
  for (const written of ['203.0.116.7:50123', '[2001:db8:78::7]:50123', '[2001:db8:78::7]'])
    t.is((await from(written).get('/heartbeat')).status, 403, written);
});

test('overlapping entries block independently', async (t) => {
  const wide = (await add('198.51.102.0/24')).data;
  const narrow = (await add('198.51.102.10-198.51.102.20')).data;
  await service.admin.delete(`/blacklists/${wide.id}`);
  t.is((await from('198.51.102.15').get('/info')).status, 403);
  t.is((await from('198.51.102.21').get('/info')).status, 200);
  await service.admin.delete(`/blacklists/${narrow.id}`);
  t.is((await from('198.51.102.15').get('/info')).status, 200);
});

test('deleting several entries returns their count', async (t) => {
  const { id } = (await add('198.51.104.1')).data;
  t.deepEqual((await service.admin.delete('/blacklists/batch', { ids: [id, 999_999] })).data, { count: 1 });
  t.is((await service.admin.delete('/blacklists/batch', { ids: [] })).status, 422);
  t.is((await service.admin.delete('/blacklists/batch', { ids: ['x'] })).status, 400);
  t.is((await service.admin.delete(`/blacklists/${id}`)).status, 404);
});
