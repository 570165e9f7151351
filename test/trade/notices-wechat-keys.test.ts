// Keys of WeChat's notices: certificates that cannot be downloaded again, and one APIv3 key among many methods.
import '../support/environment.js';
import '../support/local-gateways.js';
import '../support/open-results.js';
import test from 'ava';
import { setClock } from '../../src/lib/values/clock.js';
import { change } from '../../src/lib/database/db.js';
import { makeOrder, type MadePayment } from '../support/factories.js';
import { deliver, type Notice, type NoticeAnswer } from '../support/notices.js';
import { serviceTest } from '../support/service-test.js';
import { WechatPlatform } from '../support/wechat-platform.js';

const service = serviceTest();
let platform: WechatPlatform;

test.serial.beforeEach(async () => {
  platform = await WechatPlatform.start();
});

test.afterEach.always(() => {
  setClock();
  platform.stop();
});

async function newMethod(): Promise<number> {
  const { data, text } = await service.admin.post('/payment-methods', {
    type: 'wechat',
    config: platform.config,
  });
  if (!data) throw new Error(text);
  return data.id;
}

async function place(payment_method_id: number): Promise<MadePayment> {
  const { order_no } = await makeOrder(service.admin);
  const body = { order_no, payment_method_id, initiate: true };
  const { data, text } = await service.admin.post('/payments', body);
  if (!data) throw new Error(text);
  // By the clocks that are moved it would be due, and asking about it needs a key as well.
  await change('DELETE FROM payment_follow_ups WHERE payment_no = ?', [data.payment_no]);
  return data;
}

const send = async (notice: Notice): Promise<NoticeAnswer> =>
  (await deliver(`${service.url}/api/payment/notify/wechat`, notice))[0] as NoticeAnswer;

const hour = 3_600_000;

/** Moves the clocks of service and company. */
function later(hours: number): Date {
  platform.aheadMs = hours * hour;
  const at = new Date(Date.now() + platform.aheadMs);
  setClock(at);
  return at;
}

test.serial('a known certificate is good until it expires while no other can be had', async (t) => {
  platform.renew(new Date(Date.now() + 14 * hour));
  const id = await newMethod();
  const [first, second, third] = [await place(id), await place(id), await place(id)];
  platform.certificatesAway = true;
  const { downloads } = platform;
  const sendAt = (payment: MadePayment, hours: number): Promise<NoticeAnswer> => {
    const at = later(hours);
    return send(platform.notice(platform.paid(payment.payment_no), { at }));
  };
  t.is((await sendAt(first, 13)).status, 204);
  t.is((await sendAt(second, 13)).status, 204);
  t.is(platform.downloads, downloads + 1, 'asked once a minute');
  t.like(await sendAt(third, 14.1), { status: 503, slug: 'payment_key_unavailable' });
  t.is(platform.downloads, downloads + 2);
});

test.serial('a certificate that is no longer on the list counts no more', async (t) => {
  const id = await newMethod();
  const payment = await place(id);
  const former = { keys: platform.keys, serial: platform.certificate.serial };
  platform.renew();
  const at = later(13);
  const inside = platform.paid(payment.payment_no);
  t.like(await send(platform.notice(inside, { at, by: former })), {
    ...{ status: 400, slug: 'payment_sign_invalid' },
  });
  t.is((await send(platform.notice(inside, { at }))).status, 204);
});

test.serial('an APIv3 key opens its notices however many methods there are', async (t) => {
  const [other, key] = [await newMethod(), 'another-v3-key-of-32-characters-'];
  platform.apiV3Key = key;
  const payment = await place(await newMethod());
  const copies = Array.from({ length: 100 }, (_, index) =>
    change(
      `INSERT INTO payment_methods (name, code, type, config, secrets, is_active, sort, created_at, updated_at)
       SELECT name, ?, type, config, secrets, is_active, sort, created_at, updated_at FROM payment_methods WHERE id = ?`,
      [`copy_${index}`, other],
    ),
  );
  await Promise.all(copies);
  t.is((await send(platform.notice(platform.paid(payment.payment_no)))).status, 204);
});
