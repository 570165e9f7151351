// Every channel keeps the channel contract. Placing with Alipay: an address that its gateway accepts and that nobody can
// alter.
import '../support/environment.js';
import '../support/local-gateways.js';
import test from 'ava';
import { allChannels } from '../../src/lib/channels/index.js';
import { select } from '../../src/lib/database/db.js';
import { AlipayPlatform } from '../support/alipay-platform.js';
import { channelContract, type ChannelSample } from '../support/channel-contract.js';
import { outcome } from '../support/client.js';
import { makeOrder, mockCallback } from '../support/factories.js';
import { newRsaKeys } from '../support/rsa-keys.js';
import { serviceTest } from '../support/service-test.js';
import { WechatPlatform } from '../support/wechat-platform.js';

const service = serviceTest();
let wechat: WechatPlatform;
let alipay: AlipayPlatform;

test.before(async () => {
  [wechat, alipay] = await Promise.all([WechatPlatform.start(), AlipayPlatform.start()]);
});

test.after.always(() => {
  wechat.stop();
  alipay.stop();
});

const contracts: ChannelSample[] = [
  {
    type: 'mock',
    config: () => ({ shared_secret: 'canary shared secret' }),
    required: [],
    secret: ['shared_secret'],
    placed: ['payment_no', 'gateway', 'amount', 'notify_url', 'trade_status', 'sign'],
    notifyUrl: (gateway) => gateway.notify_url,
    callback: (payment) => mockCallback(payment, 'canary shared secret'),
  },
  {
    type: 'wechat',
    config: () => wechat.config,
    required: ['app_id', 'mch_id', 'api_v3_key', 'cert_serial_no', 'private_key'],
    secret: ['api_v3_key', 'private_key'],
    placed: ['payment_no', 'code_url'],
    notifyUrl: ({ code_url = '' }) => {
      const placed = wechat.transactions.find(({ content }) => code_url.endsWith(content.out_trade_no));
      return placed?.content.notify_url;
    },
    breakDown: () => {
      wechat.mood = 'refusing';
      return () => (wechat.mood = 'well');
    },
  },
  {
    type: 'alipay',
    config: () => alipay.config,
    required: ['app_id', 'private_key'],
    secret: ['private_key'],
    placed: ['payment_no', 'pay_url'],
    notifyUrl: ({ pay_url = '' }) => new URL(pay_url).searchParams.get('notify_url') ?? '',
  },
];

for (const contract of contracts) channelContract(service, contract);

test('every channel keeps it', (t) => {
  t.deepEqual(contracts.map(({ type }) => type).sort(), allChannels.map(({ type }) => type).sort());
});

async function place(more: Record<string, string> = {}, price = '12.30', order: object = {}) {
  const config = { ...alipay.config, ...more };
  const method = await service.admin.post('/payment-methods', { type: 'alipay', config });
  const { order_no } = await makeOrder(service.admin, price, order);
  return service.admin.post('/payments', { order_no, payment_method_id: method.data.id, initiate: true });
}

// What the customer's browser meets: the cashier, or what is wrong.
async function opened(address: string): Promise<string> {
  const response = await fetch(address, { redirect: 'manual' });
  return response.headers.get('location') ?? (await response.text());
}

test('the payment address leads to the cashier with the exact amount', async (t) => {
  const { data } = await place({ return_url: 'https://shop.test/thanks?a=b&c=支付' }, '0.10');
  const address = new URL(data.gateway.pay_url);
  t.is(await opened(address.href), '/cashier');
  const { biz_content, ...rest } = Object.fromEntries(address.searchParams);
  t.deepEqual(JSON.parse(biz_content ?? ''), {
    out_trade_no: data.payment_no,
    product_code: 'FAST_INSTANT_TRADE_PAY',
    total_amount: '0.10',
    subject: `订单 ${data.order_no}`,
  });
  t.like(rest, {
    notify_url: 'https://back-office.test/api/payment/notify/alipay',
    return_url: 'https://shop.test/thanks?a=b&c=支付',
  });
  for (const [name, value] of [
    ['biz_content', (biz_content ?? '').replace('0.10', '0.01')],
    ['notify_url', 'https://thief.test/'],
    ['app_id', '1'],
  ] as const) {
    const changed = new URL(address);
    changed.searchParams.set(name, value);
    t.is(await opened(changed.href), '<html>isv.invalid-signature</html>', name);
  }
});

test('keys are accepted in every form Alipay issues them', async (t) => {
  const { privateKey } = alipay.merchant;
  for (const type of ['pkcs8', 'pkcs1'] as const) {
    const pem = privateKey.export({ type, format: 'pem' }) as string;
    const bare = privateKey.export({ type, format: 'der' }).toString('base64');
    for (const private_key of [pem, bare]) {
      t.is(await opened((await place({ private_key })).data.gateway.pay_url), '/cashier', type);
    }
  }
  const stranger = await place({ private_key: newRsaKeys().privatePem });
  t.is(await opened(stranger.data.gateway.pay_url), '<html>isv.invalid-signature</html>');
});

test('the expiry of the order is sent in Beijing time', async (t) => {
  const { data } = await place({}, '1', { expire_in_seconds: 600 });
  const trade = JSON.parse(new URL(data.gateway.pay_url).searchParams.get('biz_content') ?? '');
  const { expire_at } = (await service.admin.get(`/orders/${data.order_no}`)).data;
  const sent = Date.parse(`${trade.time_expire.replace(' ', 'T')}+08:00`);
  t.is(sent, Math.floor(Date.parse(expire_at) / 1000) * 1000);
});

test('a payment Alipay would refuse is not placed', async (t) => {
  for (const amount of ['0', '100000000.01']) {
    const answer = await place({}, amount, { remark: 'refused' });
    t.deepEqual(outcome(answer), [400, 40001, 'payment_beyond_channel']);
    t.regex(answer.message, /0\.01.*100000000\.00/);
  }
  const soon = await place({}, '1', { expire_in_seconds: 50, remark: 'refused' });
  t.deepEqual([soon.status, soon.errorCode], [400, 'order_expires_too_soon']);
  const [row] = await select<{ total: number }>(
    "SELECT COUNT(*) AS total FROM payments p JOIN orders o ON o.order_no = p.order_no WHERE o.remark = 'refused'",
  );
  t.is(row?.total, 0);
  const far = await place({}, '2', { expire_in_seconds: 30_000_000 });
  t.notRegex(new URL(far.data.gateway.pay_url).searchParams.get('biz_content') ?? '', /time_expire/);
  const near = await place({}, '2', { expire_in_seconds: 600 });
  t.regex(new URL(near.data.gateway.pay_url).searchParams.get('biz_content') ?? '', /time_expire/);
});

test('the default gateway is that of Alipay', async (t) => {
  const { data } = await place({ gateway: '' });
  t.is(new URL(data.gateway.pay_url).origin, 'https://openapi.alipay.com');
});
