// POST /payment-methods/{id}/test: whether a callback signed with what is stored would be accepted, and why not.
import '../support/settings/environment.js';
import '../support/settings/short-deadlines.js';
import '../support/settings/private-address.js';
import { createPublicKey } from 'node:crypto';
import { createServer, request, type Server } from 'node:http';
import { once } from 'node:events';
import test from 'ava';
import { change, select } from '../../src/lib/database/db.js';
import type { Client } from '../support/client.js';
import {
  callBack,
  makeCompanyMethod,
  makeMethod,
  makeOrder,
  makePayment,
  mockCallback,
  placePayment,
} from '../support/factories.js';
import { portOf } from '../support/servers/free-port.js';
import { alipayConfig, privateLine, wechatConfig } from '../support/companies/merchant.js';
import { holding } from '../support/other-connection.js';
import { newRsaKeys } from '../support/companies/rsa-keys.js';
import { startApi } from '../support/processes.js';
import { selectRow } from '../support/rows.js';
import { serviceTest } from '../support/service-test.js';

const service = serviceTest();
/** The first administrator at an API whose callbacks come through this door. */
let admin: Client;
let door: Server;
/** Somebody else answers there. */
let isAstray = false;

test.before(async () => {
  door = createServer((asked, response) => {
    if (isAstray) return response.writeHead(404).end('<h1>no</h1>');
    const { method, headers, url = '' } = asked;
    return asked.pipe(
      request(service.url + url, { method, headers }, (answer) => {
        answer.pipe(response.writeHead(answer.statusCode ?? 0, answer.headers));
      }),
    );
  });
  await once(door.listen(0, '127.0.0.1'), 'listening');
  const local = { PAYMENT_LOCAL_GATEWAYS_ALLOWED: 'true', APP_URL: `http://127.0.0.1:${portOf(door)}` };
  admin = service.admin.at((await startApi(local)).url);
});

// An open server keeps this process alive.
test.after.always(() => {
  door.closeAllConnections();
  door.close();
});

const make = (type: string, config: object) => makeCompanyMethod(service.admin, type, config);

const tested = async (id: number, client = admin) =>
  (await client.post(`/payment-methods/${id}/test`, {}, { 'Accept-Language': 'en-US' })).data;

const states = ({ checks }: { checks: { field: string; state: string }[] }) =>
  Object.fromEntries(checks.map(({ field, state }) => [field, state]));

const everything = () =>
  select(
    `SELECT (SELECT COUNT(*) FROM payments) AS payments, (SELECT COUNT(*) FROM orders) AS orders,
       (SELECT COUNT(*) FROM payment_callbacks WHERE state <> 'refused') AS callbacks,
       (SELECT COUNT(*) FROM third_party_numbers) AS numbers`,
  );

test.serial('mock: a method with its secret is accepted', async (t) => {
  const { id } = await makeMethod(service.admin, 'canary shared secret');
  const before = await everything();
  const answer = await admin.post(`/payment-methods/${id}/test`, {}, { 'Accept-Language': 'en-US' });
  t.is(answer.status, 200);
  t.like(answer.data, { type: 'mock', accepted: true, verdict: 'verified' });
  t.deepEqual(states(answer.data), { 'config.shared_secret': 'passed', notify_url: 'passed' });
  t.false(answer.text.includes('canary'));
  t.deepEqual(await everything(), before);
  const payment = await makePayment(service.admin, id);
  const callback = mockCallback(payment, 'canary shared secret');
  t.is((await service.anonymous.post('//api/payment/notify/mock', callback)).status, 200);
});

test('mock: a method without a secret is reported as open to anybody', async (t) => {
  const { id } = await makeMethod(service.admin, '');
  const answer = await tested(id);
  t.true(answer.accepted);
  t.deepEqual(states(answer), { 'config.shared_secret': 'failed', notify_url: 'passed' });
  t.regex(answer.checks[0].message, /the callback of anybody is accepted/);
});

test('wechat and alipay: the keys are checked by the platform', async (t) => {
  const wechat = await tested((await make('wechat', wechatConfig)).id);
  t.like(wechat, { accepted: false, verdict: 'payment_gateway_not_implemented' });
  t.deepEqual(states(wechat), {
    ...{ 'config.api_v3_key': 'passed', 'config.private_key': 'passed', notify_url: 'passed' },
  });
  const alipay = await tested((await make('alipay', alipayConfig)).id);
  t.like(alipay, { accepted: false, verdict: 'payment_gateway_not_implemented' });
  t.deepEqual(states(alipay), { 'config.private_key': 'passed', notify_url: 'passed' });
  t.regex(alipay.message, /not open \(PAYMENT_CHANNEL_RESULTS\)/);
});

test("a public key of our own in place of the platform's is detected", async (t) => {
  const own = createPublicKey(alipayConfig.private_key).export({ type: 'spki', format: 'pem' });
  const wrong = await tested((await make('alipay', { ...alipayConfig, alipay_public_key: own })).id);
  t.is(states(wrong)['config.alipay_public_key'], 'failed');
  const theirs = newRsaKeys().publicKey.export({ type: 'spki', format: 'pem' });
  const right = await tested((await make('alipay', { ...alipayConfig, alipay_public_key: theirs })).id);
  t.is(states(right)['config.alipay_public_key'], 'passed');
  t.false(JSON.stringify(wrong).includes(privateLine));
});

test.serial('a notify URL of another system is detected', async (t) => {
  const { id } = await makeMethod(service.admin);
  isAstray = true;
  const astray = (await tested(id)).checks.at(-1);
  t.like(astray, { field: 'notify_url', state: 'failed' });
  t.regex(astray.message, /not this service \(HTTP 404\)/);
  isAstray = false;
  door.closeAllConnections();
  const port = portOf(door);
  await once(door.close(), 'close');
  const gone = (await tested(id)).checks.at(-1);
  t.like(gone, { field: 'notify_url', state: 'failed' });
  t.regex(gone.message, /cannot be reached at APP_URL/);
  await once(door.listen(port, '127.0.0.1'), 'listening');
  const other = await make('mock', { shared_secret: 'shared secret', notify_url: 'https://shop.test/n' });
  t.like((await tested(other.id)).checks.at(-1), { field: 'notify_url', state: 'skipped' });
  t.is((await tested(other.id)).notify_url, 'https://shop.test/n');
});

test('an address that is not public is passed over outside production', async (t) => {
  const { id } = await makeMethod(service.admin, 'shared secret of a shop');
  const skipped = (await tested(id, service.admin)).checks.at(-1);
  t.like(skipped, { field: 'notify_url', state: 'skipped' });
  t.regex(skipped.message, /APP_URL is not a public address/);
});

test.serial('a service that is busy is not mistaken for another system', async (t) => {
  const { id } = await makeMethod(service.admin);
  const letGo = await holding('LOCK TABLES payments WRITE');
  const answer = await tested(id).finally(letGo);
  const door = answer.checks.at(-1);
  t.like(door, { field: 'notify_url', state: 'failed' });
  t.regex(door.message, /this service answers there, but is busy: /);
  t.true(answer.accepted);
});

test('secrets that cannot be decrypted are reported', async (t) => {
  const [lost, well] = [await makeMethod(service.admin), await makeMethod(service.admin)];
  const [payment, other] = [
    await makePayment(service.admin, lost.id),
    await makePayment(service.admin, well.id),
  ];
  const sealedElsewhere = JSON.stringify({
    shared_secret: 'v1:AAAAAAAAAAAAAAAA:AAAAAAAAAAAAAAAAAAAAAA:AAAA',
  });
  await change('UPDATE payment_methods SET secrets = ? WHERE id = ?', [sealedElsewhere, lost.id]);
  t.like(await tested(lost.id), { accepted: false, verdict: 'payment_secret_unreadable' });
  const answers = await Promise.all([payment, other].map((one) => callBack(service.anonymous, one)));
  t.deepEqual(
    answers.map(({ status, errorCode }) => [status, errorCode]),
    [
      [503, 'payment_secret_unreadable'],
      [200, undefined],
    ],
  );
  await service.admin.put(`/payment-methods/${lost.id}`, { shared_secret: 'shared secret' });
  const [kept] = (await service.admin.get(`/payments/${payment.payment_no}`)).data.callbacks;
  const replayed = await service.admin.post(
    `/payments/${payment.payment_no}/callbacks/${kept.id}/replay`,
    {},
  );
  t.is(replayed.data.outcome, 'paid');
  // Of a tag that was cut to four bytes one can be guessed.
  const { secrets } = await selectRow<{ secrets: string }>(
    'SELECT secrets FROM payment_methods WHERE id = ?',
    [well.id],
  );
  const cut = secrets.replace(/:[\w-]{22}:/, (tag) => `${tag.slice(0, 7)}:`);
  t.not(cut, secrets);
  await change('UPDATE payment_methods SET secrets = ? WHERE id = ?', [cut, well.id]);
  t.like(await tested(well.id), { accepted: false, verdict: 'payment_secret_unreadable' });
});

test('a channel that is gone is reported, and a method', async (t) => {
  const { id } = await makeMethod(service.admin);
  await change("UPDATE payment_methods SET type = 'paypal' WHERE id = ?", [id]);
  const { status, errorCode } = await service.admin.post(`/payment-methods/${id}/test`, {});
  t.deepEqual([status, errorCode], [422, 'payment_gateway_unknown']);
  const placed = await placePayment(service.admin, await makeOrder(service.admin), id);
  t.is(placed.errorCode, 'payment_gateway_not_implemented');
  const gone = await service.admin.post('/payment-methods/999999999/test', {});
  t.deepEqual([gone.status, gone.errorCode], [404, 'payment_method_not_found']);
});
