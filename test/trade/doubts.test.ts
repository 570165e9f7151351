// Payments in doubt: when their company is asked again, and when a person is told.
import '../support/environment.js';
import '../support/local-gateways.js';
import '../support/open-results.js';
import test from 'ava';
import { askChannel } from '../../src/jobs/ask-channel.js';
import { sweep } from '../../src/worker/sweeper.js';
import { companiesTest, growOlder, makeDue, type Placed } from '../support/companies.js';
import { deliver, type Notice, type NoticeAnswer } from '../support/notices.js';
import { serviceTest } from '../support/service-test.js';

// Without a worker nothing is asked but by these tests.
const service = serviceTest({ withWorker: false });
const companies = companiesTest(service);
const { place, shown } = companies;

const { signal } = new AbortController();
const ask = ({ payment_no }: Placed) => askChannel.run({ payment_no }, signal);

/** Asks at once. */
async function askNow(payment: Placed): Promise<unknown> {
  await makeDue(payment);
  return ask(payment);
}

const send = async (type: string, notice: Notice): Promise<NoticeAnswer> =>
  (await deliver(`${service.url}/api/payment/notify/${type}`, notice))[0] as NoticeAnswer;

/** A notice of WeChat about its money whose signature fits no longer. */
const unverifiable = ({ payment_no }: Placed): Notice =>
  companies.wechat.notice(companies.wechat.paid(payment_no), {
    mutate: ({ headers, body }) => ({ headers: { ...headers, 'Wechatpay-Nonce': 'another' }, body }),
  });

test.serial('a closing that is requested while the company is asked is due at once', async (t) => {
  const payment = await place('wechat');
  await growOlder(payment, 72);
  const { results } = companies.wechat;
  results.before = async () => {
    results.reset();
    await service.admin.put(`/orders/${payment.order_no}`, { status: 'cancelled' });
    // Marks what was cancelled to be closed.
    await sweep();
  };
  t.is(await askNow(payment), 'waiting');
  t.is(await ask(payment), 'closed');
  t.is(companies.wechat.ledger.stateOf(payment.payment_no), 'CLOSED');
});

test.serial('a callback soon after a question is asked about a minute after that', async (t) => {
  const payment = await place('wechat');
  await growOlder(payment, 72);
  const wait = async (): Promise<number> => {
    const { follow_up } = await shown(payment);
    return Date.parse(follow_up.due_at) - Date.parse(follow_up.last_asked_at);
  };
  t.is(await askNow(payment), 'waiting');
  t.true((await wait()) > 60_000);
  t.like(await send('wechat', unverifiable(payment)), { status: 400, slug: 'payment_sign_invalid' });
  t.is(await wait(), 60_000);
  // The same while it is being asked.
  companies.wechat.results.before = () => send('wechat', unverifiable(payment));
  t.is(await askNow(payment), 'waiting');
  t.is(await wait(), 60_000);
  t.false((await shown(payment)).needs_attention);
});
