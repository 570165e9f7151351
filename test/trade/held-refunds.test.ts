// Refunds that wait for a person: those above REFUND_APPROVAL_ABOVE for another administrator than the one who requested them,
// and all of a payment whose company reports a refund that was not made here, until somebody has looked.
import '../support/settings/environment.js';
import '../support/settings/local-gateways.js';
import '../support/settings/open-results.js';
import '../support/settings/refund-approvals.js';
import test, { type ExecutionContext } from 'ava';
import { askChannel } from '../../src/jobs/ask-channel.js';
import { change, db, select } from '../../src/lib/database/db.js';
import { queueNames } from '../../src/lib/queue/names.js';
import { Money } from '../../src/lib/values/money.js';
import { checkEquations } from '../../src/models/figures/consistency.js';
import { runRefund } from '../../src/models/trade/refund-run.js';
import { consume } from '../../src/worker/consume.js';
import { startWorker } from '../../src/worker/worker.js';
import type { NoticeForm } from '../support/companies/alipay-platform.js';
import { outcome, type Client } from '../support/client.js';
import {
  companiesTest,
  makeDue,
  runDue,
  types,
  type Placed,
  type Type,
} from '../support/companies/companies.js';
import { makeMethod, signedInWith, type MadePayment } from '../support/factories.js';
import type { NoticeAnswer } from '../support/companies/notices.js';
import { holdingPayment, lockWaits } from '../support/other-connection.js';
import { booksOf, paidPayment, refundRow } from '../support/refunds.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

// Without a worker nothing is asked or sent but by these tests.
const service = serviceTest({ withWorker: false });
const companies = companiesTest(service);
const { send, shown } = companies;

/** Alipay reports about a payment. */
const notify = ({ gateway }: Placed, fields: NoticeForm): Promise<NoticeAnswer> =>
  send('alipay', companies.alipay.notice(companies.alipay.paid(gateway.pay_url, fields)));

/** WeChat reports what became of a refund of 5.00. */
async function notifyRefund(
  { payment_no }: Placed,
  out_refund_no: string,
  refund_status = 'SUCCESS',
): Promise<number> {
  const notice = companies.wechat.refunded(payment_no, { out_refund_no, refund_status });
  return (await send('wechat', notice)).status;
}

/** Alipay reports that so much was refunded by hand. */
const refundedThere = (payment: Placed, refund_fee = '60.00') =>
  notify(payment, { refund_fee, gmt_refund: '2026-11-26 20:00:00.000' });

/** A payment that the customer has paid, which the service does not know yet. */
async function unknownHere(type: Type = 'alipay'): Promise<Placed> {
  const payment = await companies.place(type);
  companies.pay(type, payment);
  return payment;
}

async function ask(payment: Placed): Promise<unknown> {
  await makeDue(payment);
  return askChannel.run({ payment_no: payment.payment_no }, AbortSignal.timeout(5000));
}

const clear = ({ payment_no }: Placed, fail_reason: string) =>
  service.admin.put(`/payments/${payment_no}`, { needs_attention: false, fail_reason });

const refund = ({ payment_no }: Placed, more: object = {}) =>
  service.admin.post('/refunds', { payment_no, destination: 'balance', reason: 'sold out', ...more });

/** Nothing is refunded until a person has cleared each of these reasons. */
async function isHeldBack(t: ExecutionContext, payment: Placed, ...reasons: string[]): Promise<void> {
  for (const fail_reason of reasons) {
    t.like(await shown(payment), { status: 'paid', needs_attention: true, fail_reason });
    t.deepEqual(outcome(await refund(payment)), [400, 40004, 'payment_refunded_elsewhere']);
    await clear(payment, fail_reason);
  }
  t.false((await shown(payment)).needs_attention);
  t.is((await refund(payment, { amount: '1.00' })).status, 200);
}

test.serial('a later reason does not open refunds again', async (t) => {
  const payment = await companies.paid('alipay');
  t.is((await refundedThere(payment)).text, 'success');
  t.is((await notify(payment, { seller_id: '2088000000000000' })).slug, 'payment_merchant_mismatch');
  await isHeldBack(t, payment, 'payment_merchant_mismatch', 'refunded_elsewhere');
});

test.serial('money for an order that cannot be paid any more does not open them', async (t) => {
  const payment = await unknownHere();
  await service.admin.put(`/orders/${payment.order_no}`, { status: 'cancelled' });
  await refundedThere(payment);
  t.is(await ask(payment), 'paid');
  await isHeldBack(t, payment, 'order_not_payable', 'refunded_elsewhere');
});

test.serial('paying clears every other reason', async (t) => {
  const payment = await unknownHere();
  await refundedThere(payment);
  await notify(payment, { seller_id: '2088000000000000' });
  const settling = consume('payments');
  t.is((await notify(payment, {})).text, 'success');
  await settling.close();
  await isHeldBack(t, payment, 'refunded_elsewhere');
});

test.serial('a refund that is requested while the payment is being flagged is refused', async (t) => {
  const payment = await companies.paid('alipay');
  const letGo = await holdingPayment(payment);
  const notified = refundedThere(payment);
  await until(async () => (await lockWaits('payments p')) === 1);
  const refused = refund(payment);
  await until(async () => (await lockWaits('payments p')) === 2);
  await letGo();
  t.is((await notified).text, 'success');
  t.is((await refused).errorCode, 'payment_refunded_elsewhere');
});

test.serial('a refund that waits is not approved before somebody has looked', async (t) => {
  const payment = await companies.paid('alipay');
  const { refund_no } = (await refund(payment)).data;
  await refundedThere(payment);
  const other = await signedInWith(service.admin, ['refund.approve', 'refund.show']);
  const approve = () => other.post(`/refunds/${refund_no}/approve`);
  const refused = await approve();
  t.deepEqual([refused.status, refused.errorCode], [400, 'payment_refunded_elsewhere']);
  await clear(payment, 'refunded_elsewhere');
  t.is((await approve()).data.status, 'succeeded');
});

for (const type of types)
  test.serial(`${type}: money is not booked without the flag that its answer asks for`, async (t) => {
    const payment = await unknownHere(type);
    if (type === 'wechat') companies.wechat.ledger.set(payment.payment_no, 'REFUND');
    else companies.alipay.ledger.set(payment.payment_no, 'TRADE_CLOSED');
    await db.query(
      `CREATE TRIGGER no_flag BEFORE INSERT ON notifications FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'full'`,
    );
    await t.throwsAsync(ask(payment)).finally(() => db.query('DROP TRIGGER no_flag'));
    t.is(await ask(payment), 'paid');
    await isHeldBack(t, payment, 'refunded_elsewhere');
  });

/** A refund of 5.00 through the company, pending until it is run. */
async function requested(payment: Placed): Promise<string> {
  const { data, text } = await refund(payment, { destination: 'channel', amount: '5.00' });
  if (!data) throw new Error(text);
  return data.refund_no;
}

/** The company has no funds for refunds, and then has. */
async function withoutFunds(work: () => Promise<unknown>): Promise<void> {
  companies.alipay.refunds.funds = Money.zero;
  await work();
  companies.alipay.refunds.funds = undefined;
}

test.serial('a refund is not sent before somebody has looked', async (t) => {
  const payment = await companies.paid('alipay');
  const unsent = await requested(payment);
  const refused = await requested(payment);
  await withoutFunds(() => runDue(refused));
  await refundedThere(payment);
  t.like(await runDue(unsent), { status: 'pending', tries: 0 });
  t.like(await runDue(refused), { status: 'processing', tries: 2 });
  for (const refundNo of [unsent, refused])
    t.regex((await refundRow(refundNo)).fail_reason ?? '', /not made here/);
  t.is(companies.alipay.refunds.refundedOf(payment.payment_no), '0.00');
  await clear(payment, 'refunded_elsewhere');
  t.is((await runDue(refused)).status, 'succeeded');
});

test.serial('a refund that was sent before is asked about all the same', async (t) => {
  const payment = await companies.paid('alipay');
  companies.alipay.refunds.isDelayed = true;
  const refundNo = await requested(payment);
  t.is((await runDue(refundNo)).status, 'processing');
  await refundedThere(payment);
  companies.alipay.refunds.finish(refundNo);
  t.is((await runDue(refundNo)).status, 'succeeded');
});

test.serial('wechat: a refund that was made in the merchant platform is seen in its notice', async (t) => {
  const payment = await companies.paid('wechat');
  const refundNo = await requested(payment);
  const elsewhere = await requested(await companies.paid('wechat'));
  t.is(await notifyRefund(payment, 'CONSOLE1', 'CLOSED'), 204);
  t.false((await shown(payment)).needs_attention);
  for (const number of ['CONSOLE1', elsewhere]) {
    t.is(await notifyRefund(payment, number), 204);
    t.is((await runDue(refundNo)).status, 'pending');
    await isHeldBack(t, payment, 'refunded_elsewhere');
  }
});

/** The company reports a refund of 5.00 under that number, the only one until then. */
const notifyNumbered: Record<Type, (payment: Placed, number: string) => Promise<unknown>> = {
  wechat: notifyRefund,
  alipay: (payment, out_biz_no) => notify(payment, { refund_fee: '5.00', out_biz_no }),
};

for (const type of types)
  test.serial(`${type}: a repeated notice of a refund that a person has seen flags nothing`, async (t) => {
    const payment = await companies.paid(type);
    await notifyNumbered[type](payment, 'CONSOLE1');
    await notifyNumbered[type](payment, 'CONSOLE1');
    await isHeldBack(t, payment, 'refunded_elsewhere');
    await notifyNumbered[type](payment, 'CONSOLE1');
    await change('UPDATE payment_callbacks SET same_key = NULL WHERE payment_no = ?', [payment.payment_no]);
    await notifyNumbered[type](payment, 'CONSOLE1');
    t.false((await shown(payment)).needs_attention);
    await notifyNumbered[type](payment, 'CONSOLE2');
    await isHeldBack(t, payment, 'refunded_elsewhere');
  });

test.serial('wechat: a refund that failed before somebody looked is flagged once it succeeds', async (t) => {
  const payment = await companies.paid('wechat');
  t.is(await notifyRefund(payment, 'CONSOLE1', 'CLOSED'), 204);
  t.is(await notifyRefund(payment, 'CONSOLE2'), 204);
  await isHeldBack(t, payment, 'refunded_elsewhere');
  t.is(await notifyRefund(payment, 'CONSOLE1'), 204);
  await isHeldBack(t, payment, 'refunded_elsewhere');
});

test.serial('wechat: a refund of ours is asked about as soon as its notice comes', async (t) => {
  const payment = await companies.paid('wechat');
  companies.wechat.refunds.outcome = 'PROCESSING';
  const refundNo = await requested(payment);
  t.is((await runDue(refundNo)).status, 'processing');
  companies.wechat.refunds.settle(refundNo, 'SUCCESS');
  t.is(await notifyRefund(payment, refundNo), 204);
  t.deepEqual(await runRefund(refundNo, AbortSignal.timeout(5000)), {}, 'it is due');
  t.is((await refundRow(refundNo)).status, 'succeeded');
  t.is(await notifyRefund(payment, refundNo), 204);
  t.false((await shown(payment)).needs_attention);
});

test.serial('wechat: a refund whose notice comes while it is asked about is asked about again', async (t) => {
  const payment = await companies.paid('wechat');
  companies.wechat.refunds.outcome = 'PROCESSING';
  const refundNo = await requested(payment);
  for (const asked of ['refund', 'queryRefund'] as const) {
    companies.wechat.results.after = async (operation, number) => {
      if (operation === asked && number === refundNo) t.is(await notifyRefund(payment, refundNo), 204);
    };
    t.is((await runDue(refundNo)).status, 'processing');
    companies.wechat.results.reset();
    if (asked === 'queryRefund') companies.wechat.refunds.settle(refundNo, 'SUCCESS');
    t.deepEqual(await runRefund(refundNo, AbortSignal.timeout(5000)), {}, 'it is due');
  }
  t.is((await refundRow(refundNo)).status, 'succeeded');
});

test.serial('wechat: money that went back after its refund had been given up is flagged', async (t) => {
  const payment = await companies.paid('wechat');
  companies.wechat.refunds.outcome = 'CLOSED';
  const refundNo = await requested(payment);
  await runDue(refundNo);
  t.is((await runDue(refundNo)).status, 'failed');
  t.is(await notifyRefund(payment, refundNo), 204);
  await isHeldBack(t, payment, 'refunded_elsewhere');
});

test.serial(
  'alipay: a refund by hand is flagged, also one of the sum that is to be sent from here',
  async (t) => {
    for (const named of [{ out_biz_no: 'CONSOLE1' }, {}] as NoticeForm[]) {
      const payment = await companies.paid('alipay');
      await requested(payment);
      t.is((await notify(payment, { refund_fee: '5.00', ...named })).text, 'success');
      await isHeldBack(t, payment, 'refunded_elsewhere');
    }
  },
);

test.serial(
  'alipay: the refunds made here explain what it reports, without those to the balance',
  async (t) => {
    const payment = await companies.paid('alipay');
    t.is((await runDue(await requested(payment))).status, 'succeeded');
    t.is((await refundedThere(payment, '5.00')).text, 'success');
    t.false((await shown(payment)).needs_attention);
    t.is((await refund(payment, { amount: '5.00' })).data.status, 'succeeded');
    t.is((await refundedThere(payment, '5.01')).text, 'success');
    await isHeldBack(t, payment, 'refunded_elsewhere');
  },
);

test.serial(
  'alipay: a refund of ours explains its notice also when the clock of its worker is ahead',
  async (t) => {
    const payment = await companies.paid('alipay');
    const refundNo = await requested(payment);
    t.is((await runDue(refundNo)).status, 'succeeded');
    // The API dates the notice by its own clock.
    await change('UPDATE refunds SET sent_at = NOW(3) + INTERVAL 1 SECOND WHERE refund_no = ?', [refundNo]);
    t.is((await refundedThere(payment, '5.00')).text, 'success');
    t.false((await shown(payment)).needs_attention);
  },
);

test.serial('alipay: a refund of ours whose answer was lost is not taken for one by hand', async (t) => {
  for (const isNamed of [true, false]) {
    const payment = await companies.paid('alipay');
    companies.alipay.results.moods.refund = 'cut';
    const refundNo = await requested(payment);
    await runDue(refundNo);
    companies.alipay.results.reset();
    await notify(payment, { refund_fee: '5.00', ...(isNamed && { out_biz_no: refundNo }) });
    t.deepEqual(await runRefund(refundNo, AbortSignal.timeout(5000)), {}, 'it is due');
    t.is((await refundRow(refundNo)).status, 'succeeded');
    t.false((await shown(payment)).needs_attention);
  }
});

test.serial('alipay: a refund of ours that never arrived is not sent after one by hand', async (t) => {
  const payment = await companies.paid('alipay');
  const refundNo = await requested(payment);
  await withoutFunds(() => runDue(refundNo));
  await notify(payment, { refund_fee: '5.00' });
  t.like(await runDue(refundNo), { status: 'processing' });
  t.is(companies.alipay.refunds.refundedOf(payment.payment_no), '0.00');
  await isHeldBack(t, payment, 'refunded_elsewhere');
  t.is((await runDue(refundNo)).status, 'succeeded', 'a person has decided');
});

test.serial('alipay: what a person has seen is not flagged again by refunds of ours', async (t) => {
  const payment = await companies.paid('alipay');
  await refundedThere(payment, '5.00');
  await clear(payment, 'refunded_elsewhere');
  t.is((await runDue(await requested(payment))).status, 'succeeded');
  await refundedThere(payment, '10.00');
  t.false((await shown(payment)).needs_attention);
  await refundedThere(payment, '10.01');
  await isHeldBack(t, payment, 'refunded_elsewhere');
});

// From here on a worker pays and sends.
let worker: ReturnType<typeof startWorker> | undefined;
let methodId: number;
let clerk: Client;

test.before(async () => {
  methodId = (await makeMethod(service.admin)).id;
  clerk = await signedInWith(service.admin, ['refund.store', 'refund.approve', 'refund.show']);
});

test.after(async (t) => {
  t.deepEqual(await checkEquations(), []);
  await (await worker)?.stop();
});

/** A payment that needs approval for a refund above 10.00. */
async function paidHere(amount = '20.00'): Promise<MadePayment> {
  await (worker ??= startWorker(queueNames, () => undefined));
  return paidPayment(service.admin, methodId, amount);
}

const request = (caller: Client, payment: { payment_no: string }, more: object = {}) =>
  caller.post('/refunds', {
    ...{ payment_no: payment.payment_no, destination: 'channel', reason: 'sold out' },
    ...more,
  });

const statusOf = async (refundNo: string): Promise<string | undefined> =>
  (await select<{ status: string }>('SELECT status FROM refunds WHERE refund_no = ?', [refundNo]))[0]?.status;

test('a refund up to the limit needs no approval', async (t) => {
  const payment = await paidHere();
  const { data } = await request(clerk, payment, { amount: '10.00' });
  await until(async () => (await statusOf(data.refund_no)) === 'succeeded');
  const decided = await service.admin.post(`/refunds/${data.refund_no}/approve`);
  t.deepEqual(outcome(decided), [400, 40001, 'refund_not_waiting']);
});

test('a refund above the limit is reserved, announced, and sent when another administrator approves', async (t) => {
  const payment = await paidHere();
  const { data } = await request(clerk, payment, { amount: '10.01' });
  t.like(data, { status: 'waiting', due_at: null, sent_at: null });
  t.like(await booksOf(payment), { refund_reserved: '10.01', refunded_amount: '0.00' });
  const { list } = (await service.admin.get('/notifications?page_size=100')).data;
  const notifications = list.filter(({ content }: { content: string }) => content.startsWith(data.refund_no));
  t.is(notifications.length, 1, JSON.stringify(list));
  t.true(notifications[0].content.includes('¥10.01'));
  t.is((await service.admin.post(`/refunds/${data.refund_no}/query`)).data.status, 'waiting');
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => service.admin.post(`/refunds/${data.refund_no}/approve`)),
  );
  const outcomes = answers.map(({ status, errorCode }) => (status === 200 ? 'approved' : errorCode)).sort();
  t.deepEqual(outcomes, ['approved', ...Array.from({ length: 7 }, () => 'refund_not_waiting')]);
  await until(async () => (await statusOf(data.refund_no)) === 'succeeded');
  t.like((await service.admin.get(`/refunds/${data.refund_no}`)).data.approver, { username: 'admin' });
  t.like(await booksOf(payment), { refund_reserved: '10.01', refunded_amount: '10.01' });
});

test('small refunds of one payment that come to more than the limit need approval', async (t) => {
  const payment = await paidHere('40.00');
  const part = { amount: '4.00', destination: 'balance' };
  const states = [];
  for (let nth = 0; nth < 4; nth++) states.push((await request(clerk, payment, part)).data.status);
  t.deepEqual(states, ['succeeded', 'succeeded', 'waiting', 'waiting']);
  t.like(await booksOf(payment), { refund_reserved: '16.00', refunded_amount: '8.00' });
  const other = await paidHere('40.00');
  const answers = await Promise.all(Array.from({ length: 5 }, () => request(clerk, other, part)));
  t.is(answers.filter(({ data }) => data.status === 'succeeded').length, 2, 'also when they come at once');
  t.like(await booksOf(other), { refund_reserved: '20.00', refunded_amount: '8.00' });
});

test('nobody approves what they requested, super administrators neither', async (t) => {
  for (const caller of [service.admin, clerk]) {
    const payment = await paidHere();
    const { refund_no } = (await request(caller, payment)).data;
    const own = await caller.post(`/refunds/${refund_no}/approve`);
    t.deepEqual(outcome(own), [403, 20003, 'refund_own_request']);
    t.is(await statusOf(refund_no), 'waiting');
    t.like(await booksOf(payment), { refund_reserved: '20.00', refunded_amount: '0.00' });
  }
});

test('a rejected refund releases its amount once', async (t) => {
  const payment = await paidHere();
  const other = (await request(clerk, payment, { amount: '5.00', destination: 'balance' })).data;
  t.is(other.status, 'succeeded');
  const { refund_no } = (await request(clerk, payment, { amount: '15.00' })).data;
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => service.admin.post(`/refunds/${refund_no}/reject`, { reason: 'no' })),
  );
  t.is(answers.filter(({ status }) => status === 200).length, 1);
  t.like(await booksOf(payment), { refund_reserved: '5.00', refunded_amount: '5.00' });
  const rejected = (await service.admin.get(`/refunds/${refund_no}`)).data;
  t.like(rejected, { status: 'rejected', fail_reason: 'no', needs_attention: false });
  t.like(rejected.approver, { username: 'admin' });
  t.is((await service.admin.post(`/refunds/${refund_no}/approve`)).errorCode, 'refund_not_waiting');
  const own = (await request(clerk, payment, { amount: '15.00' })).data;
  t.is((await clerk.post(`/refunds/${own.refund_no}/reject`)).data.status, 'rejected', 'withdrawn');
});

test('the log distinguishes a rejection from an approval', async (t) => {
  const titles: string[][] = [];
  for (const action of ['approve', 'reject']) {
    const payment = await paidHere();
    const { refund_no } = (await request(clerk, payment)).data;
    await service.admin.post(`/refunds/${refund_no}/${action}`);
    const path = `/operation-logs?path=/refunds/${refund_no}/${action}`;
    const entryIn = async (language: string): Promise<{ title: string; action: string }> =>
      (await service.admin.with({ 'Accept-Language': language }).get(path)).data.list[0];
    const entry = await entryIn('en-US');
    titles.push([(await entryIn('zh-CN')).title, entry.title, entry.action]);
  }
  t.deepEqual(titles, [
    ['审批退款', 'Approve refunds', 'approve'],
    ['驳回退款', 'Reject refunds', 'reject'],
  ]);
});

test('the requester is notified of what somebody else has decided, and nobody else', async (t) => {
  const contents: string[] = [];
  const requester = await signedInWith(service.admin, ['refund.store', 'refund.approve']);
  const receivedBy = async (caller: Client): Promise<string[]> =>
    (await caller.get('/notifications?page_size=100')).data.list
      .filter(({ title }: { title: string }) => /^退款已/.test(title))
      .map(({ title, content }: { title: string; content: string }) => `${title}: ${content}`);
  const decide = async (by: Client, action: string, body: object, destination: string): Promise<string> => {
    const payment = await paidHere();
    const { refund_no } = (await request(requester, payment, { destination })).data;
    t.is((await by.post(`/refunds/${refund_no}/${action}`, body)).status, 200);
    return `${refund_no}: ¥20.00, ${payment.payment_no}`;
  };
  contents.unshift(
    `退款已批准 / A refund was approved: ${await decide(service.admin, 'approve', {}, 'channel')}`,
  );
  contents.unshift(`退款已批准 / A refund was approved: ${await decide(clerk, 'approve', {}, 'balance')}`);
  const reason = { reason: 'Already replaced' };
  const rejected = await decide(service.admin, 'reject', reason, 'channel');
  contents.unshift(`退款已驳回 / A refund was rejected: ${rejected}: Already replaced`);
  contents.unshift(`退款已驳回 / A refund was rejected: ${await decide(clerk, 'reject', {}, 'channel')}`);
  await decide(requester, 'reject', reason, 'channel');
  t.deepEqual(await receivedBy(requester), contents, 'not of one that was withdrawn');
  const others = await receivedBy(service.admin);
  t.false(others.some((one) => contents.includes(one)));
});

test('approval and rejection at once: one of them happens', async (t) => {
  for (let round = 0; round < 5; round++) {
    const payment = await paidHere();
    const { refund_no, user_id } = (await request(clerk, payment, { destination: 'balance' })).data;
    const answers = await Promise.all(
      ['approve', 'reject', 'approve', 'reject'].map((action) =>
        service.admin.post(`/refunds/${refund_no}/${action}`),
      ),
    );
    t.is(answers.filter(({ status }) => status === 200).length, 1);
    const { balance } = (await service.admin.get(`/users/${user_id}`)).data;
    const isGiven = (await statusOf(refund_no)) === 'succeeded';
    t.is(balance, isGiven ? 20 : 0);
    t.like(
      await booksOf(payment),
      isGiven
        ? { refund_reserved: '20.00', refunded_amount: '20.00' }
        : { refund_reserved: '0.00', refunded_amount: '0.00' },
    );
  }
});

test('a refund to the balance is given when it is approved', async (t) => {
  const payment = await paidHere();
  const { refund_no, user_id } = (await request(clerk, payment, { destination: 'balance' })).data;
  t.is((await service.admin.get(`/users/${user_id}`)).data.balance, 0);
  t.is((await service.admin.post(`/refunds/${refund_no}/approve`)).data.status, 'succeeded');
  const logs = (await service.admin.get(`/user-balance-logs?user_id=${user_id}`)).data.list;
  t.is(logs.length, 1);
  t.like(logs[0], { request_id: refund_no, amount: 20, balance_after: 20 });
});
