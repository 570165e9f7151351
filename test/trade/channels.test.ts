// Every channel keeps the channel contract.
import '../support/environment.js';
import '../support/local-gateways.js';
import test from 'ava';
import { allChannels } from '../../src/lib/channels/index.js';
import { AlipayPlatform } from '../support/alipay-platform.js';
import { channelContract, type ChannelSample } from '../support/channel-contract.js';
import { mockCallback } from '../support/factories.js';
import { startService, type Service } from '../support/service.js';
import { WechatPlatform } from '../support/wechat-platform.js';

let service: Service;
let wechat: WechatPlatform;
let alipay: AlipayPlatform;

test.before(async () => {
  service = await startService();
  [wechat, alipay] = await Promise.all([WechatPlatform.start(), AlipayPlatform.start()]);
});

test.after.always(async () => {
  wechat.stop();
  alipay.stop();
  await service.stop();
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

for (const contract of contracts) channelContract(() => service, contract);

test('every channel keeps it', (t) => {
  t.deepEqual(contracts.map(({ type }) => type).sort(), allChannels.map(({ type }) => type).sort());
});
