// The ledgers of two payment companies beside ours while their callbacks are lost and parts are killed: no cent differs (R26).
import '../support/settings/environment.js';
import '../support/settings/local-gateways.js';
import '../support/settings/open-results.js';
import '../support/settings/swift-questions.js';
import test from 'ava';
import { AlipayPlatform } from '../support/companies/alipay-platform.js';
import { Client } from '../support/client.js';
import { startOwnDatabase, type OwnDatabase } from '../support/servers/database.js';
import { makeUser } from '../support/factories.js';
import { deliver, type Notice } from '../support/companies/notices.js';
import { killProcesses, startApi, startWorkerProcess, type TestProcess } from '../support/processes.js';
import { startOwnRedis, type OwnRedis } from '../support/servers/redis.js';
import { until } from '../support/until.js';
import { WechatPlatform } from '../support/companies/wechat-platform.js';

const payments = Number(process.env.LOST_NOTICES ?? 10_000);
const lateOnes = payments / 10;
const atOnce = 16;
const price = '69.00';

let database: OwnDatabase;
let redis: OwnRedis;
let api: TestProcess;
let worker: TestProcess;
let admin: Client;
let wechat: WechatPlatform;
let alipay: AlipayPlatform;
const methods: Record<string, number> = {};
let userId: number;

const env = () => ({ ...database.env, ...redis.env });

test.before(async () => {
  [database, redis] = await Promise.all([startOwnDatabase(), startOwnRedis()]);
  [wechat, alipay] = await Promise.all([WechatPlatform.start(), AlipayPlatform.start()]);
  [api, worker] = await Promise.all([startApi(env()), startWorkerProcess(env())]);
  admin = await new Client(api.url).signIn();
  for (const [type, config] of [
    ['wechat', wechat.config],
    ['alipay', alipay.resultConfig],
  ] as const)
    methods[type] = (await admin.post('/payment-methods', { type, config })).data.id;
  userId = (await makeUser(admin)).id;
});

test.after.always(async () => {
  wechat.stop();
  alipay.stop();
  await killProcesses();
  await redis.remove();
  await database.remove();
});

interface Placed {
  payment_no: string;
  order_no: string;
  gateway: { pay_url: string };
}

/** Runs a task that many times, a few at once. */
async function each(count: number, task: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const run = async (): Promise<void> => {
    while (next < count) await task(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, run));
}

const typeOf = (at: number): 'wechat' | 'alipay' => (at % 2 ? 'alipay' : 'wechat');

async function place(at: number): Promise<Placed> {
  const details = [{ product_name: 'Tea', price, quantity: 1 }];
  const { data: order } = await admin.post('/orders', { user_id: userId, details });
  const body = { order_no: order.order_no, payment_method_id: methods[typeOf(at)], initiate: true };
  const { data, text } = await admin.post('/payments', body);
  if (!data) throw new Error(text);
  if (typeOf(at) === 'alipay') alipay.open(data.gateway.pay_url);
  return data;
}

const pay = (at: number, { payment_no }: Placed): string =>
  typeOf(at) === 'wechat' ? wechat.ledger.pay(payment_no) : alipay.ledger.pay(payment_no);

const noticeOf = (at: number, { payment_no, gateway }: Placed): Notice =>
  typeOf(at) === 'wechat'
    ? wechat.notice(wechat.paid(payment_no))
    : alipay.notice(alipay.paid(gateway.pay_url));

/** Each part dies once and comes back. */
async function killAll(): Promise<void> {
  await worker.kill();
  worker = await startWorkerProcess(env());
  await api.kill();
  api = await startApi({ ...env(), PORT: new URL(api.url).port });
  await redis.stop('SIGKILL');
  await redis.start();
  await database.stop('SIGKILL');
  await database.start();
}

/** What is booked under the company's numbers, in cents. */
async function booked(): Promise<{ cents: number; count: number; numbers: Set<string> } | undefined> {
  const rows = await database
    .select<{ amount: string; third_party_no: string }>(
      `SELECT p.amount, p.third_party_no FROM payments p WHERE p.status = 'paid'`,
    )
    .catch(() => undefined);
  return (
    rows && {
      cents: rows.reduce((sum, { amount }) => sum + Math.round(Number(amount) * 100), 0),
      count: rows.length,
      numbers: new Set(rows.map(({ third_party_no }) => third_party_no)),
    }
  );
}

const theirs = new Set<string>();

async function waitUntilEqual(): Promise<number> {
  const startedAt = Date.now();
  await until(async () => (await booked())?.count === theirs.size, 3_600_000, 500);
  return Math.round((Date.now() - startedAt) / 1000);
}

for (const lost of [0.3, 1])
  test.serial(
    `with ${lost * 100} % of the callbacks lost and every part killed the books are equal`,
    async (t) => {
      const placed: Placed[] = [];
      await each(payments, async (at) => void (placed[at] = await place(at)));
      const striking = killAll();
      await each(payments, async (at) => {
        const one = placed[at] as Placed;
        theirs.add(pay(at, one));
        if (Math.random() < lost) return;
        const url = `${api.url}/api/payment/notify/${typeOf(at)}`;
        // A company gives up, too: some of these are lost while parts are down.
        await deliver(url, noticeOf(at, one)).catch(() => undefined);
      });
      await striking;
      const seconds = await waitUntilEqual();
      const ours = await booked();
      t.deepEqual([...(ours?.numbers ?? [])].sort(), [...theirs].sort());
      const difference = ((ours?.cents ?? 0) - theirs.size * 6900) / 100;
      t.is(difference, 0);
      const [wrong] = await database.select<{ count: number }>(
        `SELECT COUNT(*) AS count FROM payments p JOIN orders o ON o.order_no = p.order_no
       WHERE p.status <> o.status OR p.needs_attention`,
      );
      t.is(wrong?.count, 0);
      t.log(`${payments} payments, difference ${difference.toFixed(2)}, equal after ${seconds} s`);
    },
  );

test.serial('late successes are booked and flagged', async (t) => {
  const placed: Placed[] = [];
  await each(lateOnes, async (at) => void (placed[at] = await place(at)));
  await worker.kill();
  await each(lateOnes, async (at) => {
    const one = placed[at] as Placed;
    await admin.put(`/orders/${one.order_no}`, { status: 'cancelled' });
    theirs.add(pay(at, one));
  });
  worker = await startWorkerProcess(env());
  const seconds = await waitUntilEqual();
  const [flagged] = await database.select<{ count: number }>(
    `SELECT COUNT(*) AS count FROM payments p JOIN orders o ON o.order_no = p.order_no
     WHERE p.status = 'paid' AND o.status = 'cancelled' AND p.fail_reason = 'order_not_payable' AND p.needs_attention`,
  );
  t.is(flagged?.count, lateOnes);
  t.log(`${lateOnes} late successes booked and flagged after ${seconds} s`);
});
