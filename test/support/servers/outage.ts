// A load during the failover of a server: how long callers and the worker were not served, and whether everything
// acknowledged is there exactly once.
import type { ExecutionContext } from 'ava';
import { select } from '../../../src/lib/database/db.js';
import { Client } from '../client.js';
import { makeMethod, makeOrder } from '../factories.js';
import { mustHold } from '../figures.js';
import { Load } from '../load.js';
import { startApi, startWorkerProcess, type TestProcess } from '../processes.js';
import { until } from '../until.js';

/** Max time to recovery (docs/promises.md, R19). */
const maxRecoveryMs = 15_000;

export class Outages {
  readonly admin: Client;
  readonly processes: TestProcess[];
  readonly #load: Load;
  readonly #figures = { faults: 0, worstRecoveryMs: 0 };

  private constructor(admin: Client, load: Load, processes: TestProcess[]) {
    this.admin = admin;
    this.#load = load;
    this.processes = processes;
  }

  /** An API and a worker with those settings, and callers of the API. */
  static async prepare(env: Record<string, string>): Promise<Outages> {
    const api = await startApi(env);
    const worker = await startWorkerProcess(env);
    const admin = await new Client(api.url).signIn();
    const load = await Load.prepare(admin, (await makeMethod(admin)).id);
    return new Outages(admin, load, [api, worker]);
  }

  /** Lets the fault happen under load, and asserts recovery within `maxRecoveryMs`. */
  async through(t: ExecutionContext, name: string, fault: () => Promise<void> | void): Promise<void> {
    this.#load.start();
    await this.#load.flows();
    const since = Date.now();
    await fault();
    this.#figures.faults++;
    const worker = Promise.all([this.#expires(), this.#consumes()]).then(() => Date.now() - since);
    const callerMs = await this.#load.isWell(since);
    const workerMs = await worker;
    await until(async () => (await this.admin.get('//readyz')).data?.redis === 'ok', maxRecoveryMs);
    await this.#load.stop();
    const worst = Math.max(callerMs, workerMs);
    this.#figures.worstRecoveryMs = Math.max(this.#figures.worstRecoveryMs, worst);
    t.log(`${name}: callers well after ${callerMs} ms, the worker after ${workerMs} ms`);
    t.true(worst < maxRecoveryMs, `${name}: callers ${callerMs} ms, worker ${workerMs} ms`);
    t.deepEqual(this.#load.unexpected, []);
  }

  /** Compares everything acknowledged with the database. */
  async mustAddUp(t: ExecutionContext): Promise<void> {
    mustHold(t, { ...this.#figures, ...(await this.#load.figures()) });
  }

  /** For test.after.always. */
  abandon(): void {
    this.#load.abandon();
  }

  // Jobs reach every queue, and the worker takes them.
  async #consumes(): Promise<void> {
    let last = '';
    const areConsumed = async () => {
      const { status, text, data } = await this.admin.get('/queues');
      last = text;
      const queues = status === 200 ? (data.list as { oldest_seconds: number }[]) : undefined;
      return queues?.every(({ oldest_seconds }) => oldest_seconds <= 1);
    };
    await until(() => areConsumed().catch(() => false), 45_000).catch((cause: unknown) => {
      throw new Error(`the queues are not consumed: ${last}`, { cause });
    });
  }

  // An order expires without a request: the worker works.
  async #expires(): Promise<void> {
    const order = await until(() =>
      makeOrder(this.admin, '1', { expire_in_seconds: 1 }).catch(() => undefined),
    );
    const isCancelled = async () =>
      (await select(`SELECT 1 FROM orders WHERE order_no = ? AND status = 'cancelled'`, [order.order_no]))
        .length === 1;
    await until(() => isCancelled().catch(() => false), 45_000);
  }
}
