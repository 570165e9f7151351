// Clients that keep their connection and never retry, while processes are replaced.
import { Agent, request } from 'node:http';
import { setInterval } from 'node:timers/promises';
import { mockCallback, type MadePayment } from './factories.js';

interface Outcome {
  status: number;
  error?: string;
}

/** One request over the client's kept connection, without a retry. */
function send(
  agent: Agent,
  port: number,
  method: string,
  path: string,
  headers: object,
  body = '',
): Promise<Outcome> {
  return new Promise((done) => {
    const options = { agent, method, path, port, host: '127.0.0.1', headers: { ...headers } };
    const sent = request(options, (response) => {
      response.resume();
      response.once('end', () => done({ status: response.statusCode ?? 0 }));
      response.once('error', (error) => done({ status: 0, error: error.message }));
    });
    sent.once('error', (error) => done({ status: 0, error: error.message }));
    // Nothing is answered after more than 10 s; a client that waits for ever would hide it.
    sent.setTimeout(20_000, () => sent.destroy(new Error('not answered within 20 s')));
    sent.end(body);
  });
}

interface Traffic {
  sent: () => number;
  /** Whatever was not answered 200. */
  failures: readonly Outcome[];
  /** Lets each client finish its request. */
  stop(): Promise<void>;
}

const clients = 25;
/** Each sends a request so often: together twice the peak that the service is made for, which leaves processors to the rest. */
const paceMs = 250;

/** Lists of orders and, each tenth, a callback of these payments, over 25 kept connections until it is stopped. */
export function startTraffic(
  port: number,
  headers: Record<string, string>,
  payments: readonly MadePayment[],
  secret: string,
): Traffic {
  const failures: Outcome[] = [];
  let [sent, isStopped] = [0, false];
  const json = { ...headers, 'Content-Type': 'application/json' };
  const client = async (number: number): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for await (const _ of setInterval(paceMs)) {
      if (isStopped) break;
      const turn = sent++;
      const notice = JSON.stringify(mockCallback(payments[turn % payments.length] as MadePayment, secret));
      const outcome =
        turn % 10 === number % 10
          ? await send(agent, port, 'POST', '/api/payment/notify/mock', json, notice)
          : await send(agent, port, 'GET', '/api/admin/orders?page_size=5', headers);
      if (outcome.status !== 200) failures.push(outcome);
    }
    agent.destroy();
  };
  const running = Array.from({ length: clients }, (_, number) => client(number));
  return {
    sent: () => sent,
    failures,
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}
