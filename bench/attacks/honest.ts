// An honest client that continues while others attack: lists at a modest pace, and a sign-in now and then.
import { Agent, request } from 'node:http';
import { measured, type Measured } from '../support/load.js';
import { json, type Headers } from '../support/session.js';
import { adminPassword } from '../support/site.js';

/** Runs until it is stopped, over a few connections, as browsers and proxies do. */
export function startHonest(url: string, authorization: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 6, localAddress: '127.0.0.5' });
  const credentials = JSON.stringify({ username: 'admin', password: adminPassword });
  const startedAt = performance.now();
  const latencies: number[] = [];
  const lists: Promise<boolean>[] = [];
  const signIns: Promise<boolean>[] = [];
  const list = async (): Promise<boolean> => {
    const at = performance.now();
    const isGood = await ask(agent, `${url}/api/admin/orders?page_size=10`, { authorization });
    latencies.push(performance.now() - at);
    return isGood;
  };
  const signIn = (): Promise<boolean> => ask(agent, `${url}/api/admin/login`, json, credentials);
  const timers = [setInterval(() => lists.push(list()), 40), setInterval(() => signIns.push(signIn()), 2000)];
  return async (): Promise<Measured & { lists: number; signIns: number; failed: number }> => {
    for (const timer of timers) clearInterval(timer);
    const answers = await Promise.all([...lists, ...signIns]);
    agent.destroy();
    const failed = answers.filter((isGood) => !isGood).length;
    const figures = measured(latencies, (performance.now() - startedAt) / 1000);
    return { ...figures, lists: lists.length, signIns: signIns.length, failed };
  };
}

/** @returns whether it was answered with 200 */
function ask(agent: Agent, url: string, headers: Headers, body?: string): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { agent, headers, method: body ? 'POST' : 'GET', timeout: 15_000 };
    const sent = request(url, options, (response) => {
      response.resume();
      response.on('close', () => resolve(response.complete && response.statusCode === 200));
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve(false));
    sent.end(body);
  });
}
