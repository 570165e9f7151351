// Lists while everything changes: two API processes, each with its own way to the database and to Redis, which lose the answers
// to their commits or are cut off (docs/promises.md R22).
import '../support/environment.js';
import '../support/long-deadlines.js';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { expireOrder } from '../../src/jobs/expire-order.js';
import { settlePayment } from '../../src/jobs/settle-payment.js';
import { change, closeDatabase, db, select } from '../../src/lib/database/db.js';
import { closePubsub } from '../../src/lib/redis/pubsub.js';
import { closeQueues } from '../../src/lib/queue/queue.js';
import { connectRedis, disconnectRedis } from '../../src/lib/redis/redis.js';
import { Client, type Answer } from '../support/client.js';
import { makeMethod, makeOrder, makeUser, mockCallback, type MadePayment } from '../support/factories.js';
import { killProcesses, startApi, startWorkerProcess, type TestProcess } from '../support/processes.js';
import { beforeDatabase, beforeRedis } from '../support/faulty-proxy.js';
import { until } from '../support/until.js';

/** A process of the service with its ways to the servers. */
class Place {
  database!: Awaited<ReturnType<typeof beforeDatabase>>;
  redis!: Awaited<ReturnType<typeof beforeRedis>>;
  readonly #start: (env: Record<string, string>) => Promise<TestProcess>;
  #env: Record<string, string> = {};
  #process: TestProcess | undefined;

  constructor(start: (env: Record<string, string>) => Promise<TestProcess>) {
    this.#start = start;
  }

  async open(): Promise<void> {
    [this.database, this.redis] = await Promise.all([beforeDatabase(), beforeRedis()]);
    // The sweeper stays out of the way: what is wrong must not be put right by it.
    const noSweeper = { SWEEP_SECONDS: '59', SWEEP_AGE_SECONDS: '3600' };
    this.#env = { ...this.database.env, ...this.redis.env, ...noSweeper };
    await this.revive();
  }

  get url(): string {
    return this.#process?.url ?? '';
  }

  /** What it wrote last if it has ended by itself. */
  get lastWords(): string | undefined {
    return this.#process?.child.exitCode == null ? undefined : this.#process.output().slice(-3000);
  }

  async revive(): Promise<void> {
    await this.#process?.kill();
    this.#process = await this.#start(this.#env);
  }

  /** The answer to the next commit is lost with its connection. @param of what the transaction names, if it comes as one packet */
  loseCommit(of = ''): void {
    this.database.decide((said) => {
      if (!said.includes('COMMIT') || !said.includes(of)) return undefined;
      this.database.decide();
      return 'cut by the answer';
    });
  }

  close(): void {
    this.database.close();
    this.redis.close();
  }
}

const apis = [new Place(startApi), new Place(startApi)] as const;
const worker = new Place((env) => startWorkerProcess(env));
const places = [...apis, worker];

/** Of the processes that nobody has killed. */
const lastWords = (): string[] => places.flatMap(({ lastWords }) => lastWords ?? []);

let admin: Client;
let methodId: number;

test.before(async () => {
  await connectRedis();
  await apis[0].open();
  await Promise.all([apis[1].open(), worker.open()]);
  admin = await new Client(apis[0].url).signIn();
  methodId = (await makeMethod(admin)).id;
});

test.after.always(async () => {
  await killProcesses();
  for (const place of places) place.close();
  await closeQueues();
  closePubsub();
  await db.query(`DROP DATABASE IF EXISTS \`${process.env.DB_NAME}\``);
  await closeDatabase();
  disconnectRedis();
});

const at = ({ url }: Place): Client => admin.at(url);

interface List {
  path: string;
  table: 'orders' | 'payments';
  rows: string;
  /** What every row of the answer must say. */
  like: Record<string, unknown>;
}

function listsOf(user_id: number): List[] {
  const lists: List[] = [];
  for (const table of ['orders', 'payments'] as const) {
    const visible = table === 'orders' ? 'deleted_at IS NULL' : 'TRUE';
    lists.push({ path: `/${table}?`, table, rows: visible, like: {} });
    const [path, rows] = [`/${table}?user_id=${user_id}`, `${visible} AND user_id = ${user_id}`];
    lists.push({ path, table, rows, like: { user_id } });
    for (const status of ['pending', 'paid', 'cancelled']) {
      const like = { user_id, status };
      lists.push({ path: `${path}&status=${status}`, table, rows: `${rows} AND status = '${status}'`, like });
    }
  }
  return lists;
}

interface Shown {
  total: number;
  ids: number[];
}

async function counted({ table, rows }: List): Promise<Shown> {
  const ids = await select<{ id: number }>(`SELECT id FROM ${table} WHERE ${rows} ORDER BY id DESC`);
  return { total: ids.length, ids: ids.slice(0, 100).map(({ id }) => id) };
}

const shownBy = ({ data }: Answer): Shown => ({
  total: data.total,
  ids: data.list.map(({ id }: { id: number }) => id),
});

/** What is wrong with an answer at any time, whatever happens meanwhile. */
function fault({ path, like }: List, { status, data, text }: Answer): string | undefined {
  if (status === 503) return undefined;
  if (status !== 200) return `${path}: ${text}`;
  const ids = shownBy({ data } as Answer).ids;
  const isForeign = (row: Record<string, unknown>) =>
    Object.entries(like).some(([name, value]) => row[name] !== value);
  if (data.list.some(isForeign)) return `${path} shows what does not match: ${text}`;
  if (new Set(ids).size < ids.length) return `${path} shows a row twice: ${text}`;
  return Number.isInteger(data.total) && data.total >= 0 ? undefined : `${path} has a total of ${data.total}`;
}

/** Reads lists without a pause until stopped. @returns how to, with what was wrong and how many answers there were */
function watch(lists: List[], readers: number): () => Promise<{ faults: string[]; answers: number }> {
  const seen = { faults: [] as string[], answers: 0 };
  let isOver = false;
  const reading = Array.from({ length: readers }, async (_, reader) => {
    for (let turn = reader; !isOver; turn++) {
      const list = lists[turn % lists.length] as List;
      // A process that has been killed answers nothing.
      const answer = await at(apis[reader % 2] as Place)
        .get(list.path)
        .catch(() => undefined);
      if (!answer) continue;
      seen.answers++;
      const wrong = fault(list, answer);
      if (wrong) seen.faults.push(wrong);
    }
  });
  return async () => {
    isOver = true;
    await Promise.all(reading);
    return seen;
  };
}

/**
 * Every list of these processes is as the database has it: for a request that begins more than `lateMs` after the last write
 * without exception; until then it may still be as it was.
 */
async function mustBeExact(
  t: ExecutionContext,
  asked: readonly Place[],
  lists: List[],
  lateMs: number,
  why: string,
) {
  const since = performance.now();
  const check = async (place: Place, list: List): Promise<void> => {
    const wanted = await counted(list);
    await until(async () => {
      const begun = performance.now();
      const answer = await at(place).get(`${list.path}&page_size=100`);
      if (answer.status === 503) return false;
      const real = shownBy(answer);
      const isExact = JSON.stringify(real) === JSON.stringify(wanted);
      if (isExact || begun - since < lateMs) return isExact;
      t.deepEqual(real, wanted, `${why}: ${list.path} of API ${apis.indexOf(place)}`);
      return true;
    }, 60_000);
  };
  await Promise.all(asked.flatMap((place) => lists.map((list) => check(place, list))));
}

/** Nobody has anything left to do. */
async function settleAll(): Promise<void> {
  const left = await select<{ id: number; period: number }>(
    `SELECT id, period FROM payment_callbacks WHERE state = 'pending'`,
  );
  for (const callback of left)
    await until(async () => (await settlePayment.enqueueAndWait(callback, 5000)) !== undefined, 60_000);
}

const random = <T>(items: readonly T[], pick: number): T | undefined =>
  items[pick % Math.max(1, items.length)];

/** One write over that API to something of that user. @returns the answer; undefined when it is not known whether it was done */
async function write(kind: string, pick: number, userId: number, place: Place): Promise<Answer | undefined> {
  const caller = at(place);
  const pending = await select<{ order_no: string }>(
    `SELECT order_no FROM orders WHERE user_id = ? AND deleted_at IS NULL ORDER BY status = 'pending' DESC, id LIMIT 6`,
    [userId],
  );
  const order_no = random(pending, pick)?.order_no;
  const details = [{ product_name: 'Tea', price: '1.20', quantity: 1 }];
  const create = () => caller.post('/orders', { user_id: userId, details });
  if (!order_no || kind === 'create') return create();
  const payments = await select<MadePayment>(
    'SELECT payment_no, CAST(amount AS DOUBLE) AS amount FROM payments WHERE order_no = ?',
    [order_no],
  );
  const payment = random(payments, pick);
  const kinds: Record<string, () => Promise<Answer | undefined>> = {
    cancel: () => caller.put(`/orders/${order_no}`, { status: 'cancelled' }),
    delete: () => caller.delete(`/orders/${order_no}`),
    prepare: () => caller.post('/payments', { order_no, payment_method_id: methodId }),
    pay: () =>
      payment
        ? caller.post('//api/payment/notify/mock', mockCallback(payment))
        : (kinds.prepare as () => Promise<Answer>)(),
    async expire() {
      await change('UPDATE orders SET expire_at = NOW(3) - INTERVAL 1 SECOND WHERE order_no = ?', [order_no]);
      const end = await expireOrder.enqueueAndWait({ order_no }, 5000);
      return end === undefined ? undefined : ({ status: 200 } as Answer);
    },
  };
  return (kinds[kind] as () => Promise<Answer>)();
}

const writeKinds = ['create', 'prepare', 'pay', 'cancel', 'delete', 'expire'] as const;

interface Round {
  how: 'calm' | 'lost commit' | 'cut' | 'worker lost commit';
  where: number;
  writes: { kind: (typeof writeKinds)[number]; pick: number }[];
}

const anyRound: fc.Arbitrary<Round> = fc.record({
  how: fc.oneof(
    ...(
      [
        [8, 'calm'],
        [8, 'lost commit'],
        [6, 'cut'],
        [2, 'worker lost commit'],
      ] as const
    ).map(([weight, how]) => ({ weight, arbitrary: fc.constant(how) })),
  ),
  where: fc.nat(1),
  writes: fc.array(fc.record({ kind: fc.constantFrom(...writeKinds), pick: fc.nat() }), {
    minLength: 1,
    maxLength: 4,
  }),
});

/** One of each first, so that no sequence lacks one. */
const certain: Round[] = (
  [
    ['calm', 'create'],
    ['lost commit', 'create'],
    ['cut', 'create'],
    ['lost commit', 'cancel'],
    ['cut', 'delete'],
    ['worker lost commit', 'pay'],
  ] as const
).map(([how, kind], where) => ({ how, where: where % 2, writes: [{ kind, pick: where }] }));

test.serial('every list is exact after any fault', async (t) => {
  t.timeout(300_000);
  const user = (await makeUser(admin)).id;
  const lists = listsOf(user);
  for (let count = 0; count < 12; count++) {
    const { order_no } = await makeOrder(admin, '1.20', { user_id: user });
    await admin.post('/payments', { order_no, payment_method_id: methodId });
  }
  const done = new Map<string, number>();
  const play = async ({ how, where, writes }: Round): Promise<void> => {
    const api = apis[where] as Place;
    if (how === 'worker lost commit') worker.loseCommit('UPDATE orders');
    if (how === 'lost commit') places.forEach((place) => place.loseCommit());
    if (how === 'cut') api.redis.refuse();
    const answers = await Promise.all(
      writes.map(({ kind, pick }, index) => {
        const place = apis[(where + index) % 2] as Place;
        return write(kind, pick, user, place).catch(() => undefined);
      }),
    );
    for (const place of places) place.database.decide();
    for (const answer of answers)
      t.true(answer === undefined || answer.status < 500 || answer.status === 503, answer?.text);
    const isSure = answers.every(
      (answer) => answer && answer.status !== 503 && answer.data?.status !== 'processing',
    );
    const why = `${how}, ${writes.map(({ kind }) => kind).join(', ')}`;
    await mustBeExact(t, apis, lists, isSure ? 0 : 3000, why);
    api.redis.pass();
    if (how === 'cut') await until(async () => (await at(api).get('//readyz')).data?.redis === 'ok');
    await settleAll();
    await mustBeExact(t, apis, lists, 0, `${why}, settled`);
    done.set(how, (done.get(how) ?? 0) + 1);
  };

  const end = watch(lists, 2);
  try {
    for (const round of certain) await play(round);
    await fc.assert(
      fc.asyncProperty(fc.array(anyRound, { minLength: 15, maxLength: 15 }), async (rounds) => {
        for (const round of rounds) await play(round);
      }),
      { numRuns: 1, endOnFailure: true, includeErrorInReport: true },
    );
  } finally {
    const { faults, answers } = await end();
    t.log({ ...Object.fromEntries([...done].sort()), answers });
    t.deepEqual(faults.slice(0, 3), []);
    t.deepEqual(lastWords(), []);
    t.true(answers > 100);
  }
});

test.serial('a list with one row shows either that row or nothing', async (t) => {
  t.timeout(300_000);
  const user_id = (await makeUser(at(apis[0]))).id;
  const lists = listsOf(user_id).filter(({ table, like }) => table === 'orders' && 'user_id' in like);
  const end = watch(lists.slice(0, 2), 6);
  try {
    for (let round = 0; round < 60; round++) {
      const [one, other] = round % 2 === 0 ? apis : [apis[1], apis[0]];
      const { order_no } = await makeOrder(at(one), '1', { user_id });
      if (round % 3 > 0) await at(other).put(`/orders/${order_no}`, { status: 'cancelled' });
      await at(other).delete(`/orders/${order_no}`);
    }
  } finally {
    const { faults, answers } = await end();
    t.log({ answers });
    t.deepEqual(faults.slice(0, 3), []);
    t.deepEqual(lastWords(), []);
  }
});
