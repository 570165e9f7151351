// Two API processes and a worker process. Many callbacks at once have one effect, and nobody ever sees half of it; totals of
// lists are exact right after a write.
import '../support/settings/environment.js';
import test from 'ava';
import { select } from '../../src/lib/database/db.js';
import type { Answer, Client } from '../support/client.js';
import { stateChanges, watchStates } from '../support/model/changes.js';
import {
  callBack,
  makeMethod,
  makeOrder,
  makePayment,
  makePaymentOf,
  makeUser,
  unique,
  type MadePayment,
} from '../support/factories.js';
import { startApi, startWorkerProcess } from '../support/processes.js';
import { selectRow } from '../support/rows.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

const service = serviceTest({ withWorker: false });
let callers: [Client, Client];
let methodId: number;

test.before(async () => {
  await watchStates();
  const [one, other] = await Promise.all([startApi(), startApi(), startWorkerProcess()]);
  callers = [service.admin.at(one.url), service.admin.at(other.url)];
  methodId = (await makeMethod(service.admin)).id;
});

const notify = (caller: Client, payment: MadePayment, more: object = {}): Promise<Answer> =>
  callBack(caller, payment, more);

const isSettled = async ({ payment_no }: MadePayment): Promise<boolean> => {
  const pending = `SELECT id FROM payment_callbacks WHERE payment_no = ? AND state = 'pending' LIMIT 1`;
  return (await select(pending, [payment_no])).length === 0;
};

/**
 * Reads payment and order one after the other, in both orders, until stopped: through an API of its own, which the
 * callbacks do not keep busy.
 *
 * @returns how often it has looked, and how to end it once it has seen the last state: how often the two disagreed
 */
function watchPair({ payment_no, order_no }: MadePayment) {
  let isOver = false;
  let disagreements = 0;
  let looks = 0;
  // A busy database may refuse a read, which proves nothing.
  const isPaid = async (path: string) =>
    (await until(async () => (await service.admin.get(path)).data)).status === 'paid';
  const looking = (async () => {
    for (let isLast = false; !isLast;) {
      isLast = isOver;
      for (const [first, second] of [
        [`/payments/${payment_no}`, `/orders/${order_no}`],
        [`/orders/${order_no}`, `/payments/${payment_no}`],
      ] as const) {
        if ((await isPaid(first)) && !(await isPaid(second))) disagreements++;
        looks++;
      }
    }
  })();
  return {
    looks: () => looks,
    async end() {
      isOver = true;
      await looking;
      return disagreements;
    },
  };
}

test('concurrent callbacks are each settled by their own content', async (t) => {
  const [caller] = callers;
  const usual = await Promise.all(Array.from({ length: 12 }, () => makePayment(caller, methodId)));
  const rivals = [usual[0], usual[5]] as [MadePayment, MadePayment];
  const seconds = await Promise.all(rivals.map((rival) => makePaymentOf(caller, rival, methodId)));
  const late = await makePayment(caller, methodId);
  await caller.put(`/orders/${late.order_no}`, { status: 'cancelled' });
  const answers = await Promise.all([...usual, late, ...seconds].map((payment) => notify(caller, payment)));
  t.deepEqual(new Set(answers.map(({ data }) => data.status)), new Set(['paid']));
  const verdicts = async ({ payment_no }: MadePayment): Promise<string> => {
    const rows = await select<{ verdict: string }>(
      'SELECT verdict FROM payment_callbacks WHERE payment_no = ?',
      [payment_no],
    );
    return rows.map(({ verdict }) => verdict).join();
  };
  const alone = usual.filter((payment) => !rivals.includes(payment));
  t.deepEqual(new Set(await Promise.all(alone.map(verdicts))), new Set(['paid']));
  for (const payment of alone) t.is((await stateChanges(payment.order_no)).length, 1);
  t.is(await verdicts(late), 'paid_needs_attention');
  for (const [index, rival] of rivals.entries()) {
    const pair = [await verdicts(rival), await verdicts(seconds[index] as MadePayment)].sort();
    t.deepEqual(pair, ['paid', 'paid_needs_attention']);
    t.is((await stateChanges(rival.order_no)).length, 1);
  }
});

test.serial('500 concurrent identical callbacks over two API processes have one effect', async (t) => {
  const payment = await makePayment(service.admin, methodId, '99.90');
  const watch = watchPair(payment);
  await until(() => watch.looks() > 0);
  // A provider repeats what it was not acknowledged, which may be stored all the same.
  let refused = 0;
  const acknowledged = async (caller: Client) => {
    let answer = await notify(caller, payment);
    for (; answer.status === 503; refused++) answer = await notify(caller, payment);
    return answer;
  };
  const answers = await Promise.all(
    Array.from({ length: 500 }, (_, index) => acknowledged(callers[index % 2] as Client)),
  );
  const statuses = new Map<string, number>();
  for (const { status, data } of answers) {
    const key = `${status} ${data?.status}`;
    statuses.set(key, (statuses.get(key) ?? 0) + 1);
  }
  t.log(Object.fromEntries(statuses));
  t.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  t.true(
    answers.every(
      ({ data }) => data.payment_no === payment.payment_no && ['paid', 'processing'].includes(data.status),
    ),
  );
  await until(() => isSettled(payment), 30_000);
  t.is(await watch.end(), 0);
  t.log(`looked ${watch.looks()} times`);
  t.deepEqual(await stateChanges(payment.payment_no), [
    { number: payment.payment_no, before: 'pending', after: 'paid' },
  ]);
  t.deepEqual(await stateChanges(payment.order_no), [
    { number: payment.order_no, before: 'pending', after: 'paid' },
  ]);
  const verdicts = await select<{ state: string; verdict: string; total: number }>(
    `SELECT state, verdict, CAST(SUM(times) AS SIGNED) AS total FROM payment_callbacks WHERE payment_no = ?
     GROUP BY state, verdict ORDER BY total`,
    [payment.payment_no],
  );
  const repeats = verdicts[1]?.total ?? 0;
  t.true(repeats >= 499 && repeats <= 499 + refused, `${repeats} repeats, ${refused} refused`);
  t.deepEqual(verdicts, [
    { state: 'settled', verdict: 'paid', total: 1 },
    { state: 'settled', verdict: 'already_paid', total: repeats },
  ]);
});

test.serial('callbacks racing with cancelling and deleting never pay a cancelled order', async (t) => {
  const payments = await Promise.all(Array.from({ length: 24 }, () => makePayment(service.admin, methodId)));
  await Promise.all(
    payments.map(async (payment, index) => {
      const [one, other] = callers;
      const end =
        index % 2 === 0
          ? other.put(`/orders/${payment.order_no}`, { status: 'cancelled' })
          : other.delete(`/orders/${payment.order_no}`);
      const [first, second, third, ended] = await Promise.all([
        notify(one, payment),
        notify(other, payment),
        notify(one, payment),
        end,
      ]);
      t.deepEqual([first.status, second.status, third.status], [200, 200, 200]);
      t.true([200, 400].includes(ended.status), ended.text);
    }),
  );
  for (const payment of payments) {
    await until(() => isSettled(payment));
    const row = await selectRow<{
      status: string;
      needs_attention: number;
      order_status: string;
      paid_by: string | null;
    }>(
      `SELECT p.status, p.needs_attention, o.status AS order_status, o.payment_no AS paid_by
       FROM payments p JOIN orders o ON o.order_no = p.order_no WHERE p.payment_no = ?`,
      [payment.payment_no],
    );
    const won = { status: 'paid', needs_attention: 0, order_status: 'paid', paid_by: payment.payment_no };
    const lost = { status: 'paid', needs_attention: 1, order_status: 'cancelled', paid_by: null };
    t.deepEqual(row, row.order_status === 'paid' ? won : lost);
    const states = (await stateChanges(payment.order_no)).map(({ after }) => after);
    if (states.length !== 1) {
      // Money that arrived before the order was cancelled, and was stored after it.
      t.deepEqual(states, ['cancelled', 'paid']);
      const { arrived, cancelled } = await selectRow<{ arrived: Date; cancelled: Date }>(
        `SELECT MIN(c.created_at) AS arrived, s.at AS cancelled
         FROM payment_callbacks c JOIN state_changes s ON s.number = ? AND s.state_after = 'cancelled'
         WHERE c.payment_no = ?`,
        [payment.order_no, payment.payment_no],
      );
      t.true(arrived < cancelled);
    }
    const notifications = await select('SELECT id FROM notifications WHERE event_key LIKE ?', [
      `attention-${payment.payment_no}-%`,
    ]);
    t.is(notifications.length, row.needs_attention);
  }
});

test.serial('only one of two concurrent third-party numbers pays a payment', async (t) => {
  for (let round = 0; round < 25; round++) {
    const payment = await makePayment(service.admin, methodId);
    const numbers = [unique('A-'), unique('B-')];
    const answers = await Promise.all(
      callers.map((caller, index) => notify(caller, payment, { transaction_id: numbers[index] })),
    );
    t.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    );
    await until(() => isSettled(payment));
    const attempts = await select<{ third_party_no: string; verdict: string }>(
      'SELECT third_party_no, verdict FROM payment_callbacks WHERE payment_no = ? ORDER BY verdict',
      [payment.payment_no],
    );
    t.deepEqual(
      attempts.map(({ verdict }) => verdict),
      ['paid', 'paid_twice'],
    );
    const { data } = await service.admin.get(`/payments/${payment.payment_no}`);
    const expected = { status: 'paid', needs_attention: true, fail_reason: 'paid_twice' };
    t.like(data, { ...expected, third_party_no: attempts[0]?.third_party_no });
    t.deepEqual(await stateChanges(payment.payment_no), [
      { number: payment.payment_no, before: 'pending', after: 'paid' },
    ]);
  }
});

test.serial('a payment created while its order is being cancelled is cancelled or refused', async (t) => {
  const outcomes = new Map<string, number>();
  for (let round = 0; round < 40; round++) {
    const { order_no } = await makeOrder(service.admin);
    const [one, other] = round % 2 === 0 ? callers : [callers[1], callers[0]];
    const create = () => one.post('/payments', { order_no, payment_method_id: methodId });
    const [cancelled, ...created] = await Promise.all([
      other.put(`/orders/${order_no}`, { status: 'cancelled' }),
      ...[1, 2, 3].map(create),
    ]);
    t.is(cancelled.status, 200, cancelled.text);
    for (const { status, errorCode } of created) {
      const outcome = errorCode ?? String(status);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    const left = await select("SELECT id FROM payments WHERE order_no = ? AND status <> 'cancelled'", [
      order_no,
    ]);
    t.deepEqual(left, [], `round ${round}`);
  }
  t.log(Object.fromEntries(outcomes));
  t.deepEqual(
    [...outcomes.keys()].filter((outcome) => !['200', 'order_not_payable'].includes(outcome)),
    [],
  );
});

test.serial('every process counts what another has just written', async (t) => {
  for (let users = 0; users < 10; users++) {
    const username = unique('counted');
    const [writer, reader] = users % 2 === 0 ? callers : callers.toReversed();
    const before = (await reader?.get('/users?username=counted&page_size=1'))?.data.total as number;
    await writer?.post('/users', { username });
    for (const caller of callers)
      t.is((await caller.get('/users?username=counted&page_size=1')).data.total, before + 1);
  }
});

test.serial('a list with one row shows either that row or nothing', async (t) => {
  const user_id = (await makeUser(service.admin)).id;
  const [one, other] = callers;
  let isOver = false;
  const reading = [one, other, one, other].map(async (reader) => {
    const seen = new Set<string>();
    while (!isOver) {
      const { status, data } = await reader.get(`/orders?user_id=${user_id}`);
      const rows = data.list.map((row: { user_id: number }) => row.user_id === user_id);
      seen.add(`${status} ${data.total} ${rows}`);
    }
    return [...seen];
  });
  for (let round = 0; round < 20; round++) {
    const { order_no } = await makeOrder(one, '1', { user_id });
    await other.delete(`/orders/${order_no}`);
  }
  isOver = true;
  t.deepEqual([...new Set((await Promise.all(reading)).flat())].sort(), ['200 0 ', '200 1 true']);
});
