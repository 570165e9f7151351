// Sends payment callbacks, each of another payment, and knows what must be paid thereafter.
import { deepStrictEqual } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request } from 'autocannon';
import { load, type Measured } from './load.js';
import { count, rows, type Site } from './site.js';

export interface Settled extends Measured {
  /** Answers that did not wait for the settlement. */
  processing: number;
}

const maxSettlingMs = 60_000;

export class Sender {
  readonly #site: Site;
  readonly #callbacks: string[];
  #sent = 0;

  constructor(site: Site, callbacks: string[]) {
    this.#site = site;
    this.#callbacks = callbacks;
  }

  /** Sends that many. @returns the figures up to the moment when all of them are paid in the database */
  async send(url: string, amount: number): Promise<Settled> {
    let processing = 0;
    const next = (request: Request): Request => ({ ...request, body: this.#callbacks[this.#sent++] });
    const accept = (body: string): boolean => {
      if (body.includes('"status":"processing"')) processing++;
      return body.startsWith('{"code":200') && /"status":"(paid|processing)"/.test(body);
    };
    const run = await load(
      {
        ...{ url: `${url}/api/payment/notify/mock`, method: 'POST', amount },
        headers: { 'content-type': 'application/json' },
        requests: [{ setupRequest: next }],
      },
      accept,
    );
    const answeredAt = performance.now();
    const waited = await this.#untilSettled(answeredAt);
    const seconds = run.seconds + (processing > 0 ? waited / 1000 : 0);
    return { ...run, seconds, perSecond: run.requests / seconds, processing };
  }

  /** Every payment called for, its order and its one attempt are paid and settled; nothing else is. */
  async mustAllBePaid(): Promise<void> {
    const [found] = await rows(
      this.#site.db,
      `SELECT (SELECT COUNT(*) FROM payments p JOIN orders o ON o.order_no = p.order_no AND o.payment_no = p.payment_no
               WHERE p.status = 'paid' AND o.status = 'paid' AND p.needs_attention = 0) AS paid,
         (SELECT COUNT(*) FROM payments WHERE status = 'paid') AS payments,
         (SELECT COUNT(*) FROM orders WHERE status = 'paid') AS orders,
         (SELECT COUNT(*) FROM third_party_numbers) AS numbers,
         (SELECT COUNT(*) FROM payment_callbacks) AS attempts,
         (SELECT COUNT(*) FROM payment_callbacks WHERE state = 'settled' AND verdict = 'paid') AS settled`,
    );
    const sent = this.#sent;
    deepStrictEqual(
      { ...(found as object) },
      { paid: sent, payments: sent, orders: sent, numbers: sent, attempts: sent, settled: sent },
    );
  }

  async #untilSettled(since: number): Promise<number> {
    for (;;) {
      const paid = await count(this.#site.db, `SELECT COUNT(*) FROM payments WHERE status = 'paid'`);
      const waited = performance.now() - since;
      if (paid === this.#sent) return waited;
      if (waited > maxSettlingMs)
        throw new Error(`${this.#sent - paid} payments were not paid within ${waited} ms`);
      await sleep(50);
    }
  }
}
