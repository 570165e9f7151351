// A load of lists, new orders, callbacks and balance changes, each repeated until acknowledged, as a good caller does,
// and a check in the database that everything acknowledged is there exactly once.
import { setInterval } from 'node:timers/promises';
import { select } from '../../src/lib/database/db.js';
import { mustAddUp } from './model/balances.js';
import type { Answer, Client } from './client.js';
import type { Figures } from './figures.js';
import { makeUser, mockCallback, unique, type MadeOrder, type MadePayment } from './factories.js';
import { until } from './until.js';

/** A caller of each kind sends something so often. */
const paceMs = 60;
/** An answer that takes longer counts as bad. */
const wellMs = 3000;
/** Time without a bad answer after which the service has recovered. */
const quietMs = 1500;

const kinds = ['list', 'callback', 'order', 'balance'] as const;
export type Kind = (typeof kinds)[number];

export class Load {
  readonly #caller: Client;
  readonly #methodId: number;
  readonly #users: number[];
  readonly #running: Promise<void>[] = [];
  readonly #orders = new Map<number, string[]>();
  readonly #paid: MadePayment[] = [];
  readonly #changes: string[] = [];
  readonly #underway = new Map<symbol, number>();
  readonly #refused = new Map<Kind, number>();
  readonly #lastGood = new Map<Kind, number>();
  /** Answers that are neither an acknowledgement nor 503. */
  readonly unexpected: string[] = [];
  #isOver = false;
  #isAbandoned = false;
  #lastBadAt = 0;
  #sent = 0;
  #worstHangMs = 0;

  private constructor(caller: Client, methodId: number, users: number[]) {
    this.#caller = caller;
    this.#methodId = methodId;
    this.#users = users;
  }

  /** Creates its records; nothing runs yet. */
  static async prepare(caller: Client, methodId: number): Promise<Load> {
    const users = await Promise.all([1, 2, 3, 4].map(() => makeUser(caller)));
    return new Load(
      caller,
      methodId,
      users.map(({ id }) => id),
    );
  }

  /** Starts it unless it runs. */
  start(): void {
    if (this.#running.length > 0) return;
    this.#isOver = false;
    const [one, two] = this.#users as [number, number];
    const loops = [
      () => this.#list('/orders'),
      () => this.#list('/payments?status=paid'),
      () => this.#pay(one),
      () => this.#pay(one),
      () => this.#pay(two),
      () => this.#changeBalance(one),
      () => this.#changeBalance(two),
    ];
    const running = loops.map((step) => this.#repeat(step));
    for (const loop of running) loop.catch(() => undefined);
    this.#running.push(...running);
  }

  /** Ends it; resolves when all started requests are acknowledged. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running.splice(0));
  }

  /** Ends it without waiting; for test.after.always. */
  abandon(): void {
    this.#isOver = true;
    this.#isAbandoned = true;
  }

  /**
   * Waits until every kind of request is answered well again.
   *
   * @returns the milliseconds from that moment until then
   */
  async isWell(since: number): Promise<number> {
    let lastBad = since;
    await until(() => {
      const now = Date.now();
      lastBad = Math.max(lastBad, this.#lastBadAt);
      const isHanging = [...this.#underway.values()].some((begun) => now - begun > quietMs);
      const areGood = kinds.every((kind) => (this.#lastGood.get(kind) ?? 0) > lastBad);
      return areGood && !isHanging && now - lastBad > quietMs;
    }, 45_000);
    return lastBad - since;
  }

  /** How many requests of that kind were answered 503. */
  refused(kind: Kind): number {
    return this.#refused.get(kind) ?? 0;
  }

  /** Waits until it flows. */
  async flows(): Promise<void> {
    const since = Date.now();
    await until(() => kinds.every((kind) => (this.#lastGood.get(kind) ?? 0) > since), 30_000);
  }

  /** Compares everything acknowledged with the database; callbacks answered `processing` get time to settle. */
  async figures(): Promise<Omit<Figures, 'faults' | 'worstRecoveryMs'>> {
    const payments = this.#paid.map(({ payment_no }) => payment_no);
    const verdicts = async () =>
      new Map(
        (
          await select<{ payment_no: string; total: number }>(
            `SELECT p.payment_no, COUNT(*) AS total FROM payments p JOIN orders o ON o.order_no = p.order_no
             JOIN payment_callbacks c ON c.payment_no = p.payment_no AND c.verdict = 'paid'
             WHERE p.status = 'paid' AND o.status = 'paid' AND p.payment_no IN (?) GROUP BY p.payment_no`,
            [payments],
          )
        ).map(({ payment_no, total }) => [payment_no, total]),
      );
    await until(async () => (await verdicts()).size === payments.length, 20_000).catch(() => undefined);
    const paid = await verdicts();
    let lost = payments.filter((number) => !paid.has(number)).length;
    let doubled = [...paid.values()].filter((total) => total > 1).length;
    let made = 0;
    for (const [user, numbers] of this.#orders) {
      const rows = await select<{ order_no: string }>('SELECT order_no FROM orders WHERE user_id = ?', [
        user,
      ]);
      const found = new Set(rows.map(({ order_no }) => order_no));
      lost += numbers.filter((number) => !found.has(number)).length;
      doubled += rows.length - new Set(numbers).size;
      made += numbers.length;
    }
    const changes = await select<{ request_id: string }>(
      'SELECT request_id FROM user_balance_logs WHERE request_id IN (?)',
      [this.#changes],
    );
    lost += this.#changes.length - new Set(changes.map(({ request_id }) => request_id)).size;
    for (const user of this.#users) await mustAddUp(user);
    const acknowledged = payments.length + made + this.#changes.length;
    return { sent: this.#sent, acknowledged, lost, doubled, worstHangMs: this.#worstHangMs };
  }

  async #repeat(step: () => Promise<void>): Promise<void> {
    for await (const _ of setInterval(paceMs)) {
      if (this.#isOver) return;
      await step();
    }
  }

  async #list(path: string): Promise<void> {
    await this.#send('list', () => this.#caller.get(path));
  }

  async #pay(user_id: number): Promise<void> {
    const details = [{ product_name: 'Tea', price: '12.30', quantity: 1 }];
    const order = await this.#made<MadeOrder>('/orders', { user_id, details });
    this.#orders.set(user_id, [...(this.#orders.get(user_id) ?? []), order.order_no]);
    const body = { order_no: order.order_no, payment_method_id: this.#methodId };
    const payment = await this.#made<MadePayment>('/payments', body);
    const callback = mockCallback(payment);
    await this.#untilAcknowledged('callback', () => this.#caller.post('//api/payment/notify/mock', callback));
    this.#paid.push(payment);
  }

  async #made<T>(path: string, body: object): Promise<T> {
    const headers = { 'Idempotency-Key': unique('key') };
    return (await this.#untilAcknowledged('order', () => this.#caller.post(path, body, headers))).data as T;
  }

  async #changeBalance(user: number): Promise<void> {
    const body = { type: 'income', amount: '0.01', request_id: unique('r') };
    await this.#untilAcknowledged('balance', () => this.#caller.post(`/users/${user}/update-balance`, body));
    this.#changes.push(body.request_id);
  }

  async #untilAcknowledged(kind: Kind, request: () => Promise<Answer>): Promise<Answer> {
    return until(async () => {
      if (this.#isAbandoned) throw new Error('the load was abandoned');
      const answer = await this.#send(kind, request);
      return answer?.status === 200 ? answer : undefined;
    }, 60_000);
  }

  async #send(kind: Kind, request: () => Promise<Answer>): Promise<Answer | undefined> {
    const begun = Date.now();
    const mark = Symbol(kind);
    this.#underway.set(mark, begun);
    this.#sent++;
    const answer = await request().catch((error: unknown) => error as Error);
    this.#underway.delete(mark);
    const at = Date.now();
    this.#worstHangMs = Math.max(this.#worstHangMs, at - begun);
    const status = answer instanceof Error ? answer.message : answer.status;
    if (status === 200 && at - begun < wellMs) this.#lastGood.set(kind, at);
    else this.#lastBadAt = at;
    if (status === 503) this.#refused.set(kind, this.refused(kind) + 1);
    if (answer instanceof Error) {
      this.unexpected.push(`${kind}: ${status}`);
      return undefined;
    }
    if (status !== 200 && (status !== 503 || !answer.headers.get('retry-after')))
      this.unexpected.push(`${kind}: ${answer.text}`);
    return answer;
  }
}
