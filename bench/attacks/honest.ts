// An honest client that continues while others attack: lists at a modest pace, and a sign-in now and then.
import { Agent, request } from 'node:http';
import { percentiles } from '../support/load.js';
import { adminPassword } from '../support/site.js';

export interface Experience {
  lists: number;
  /** Answers that were missing or not 200. */
  failed: number;
  p50: number;
  p99: number;
  /** Sign-ins that succeeded, and how many were tried. */
  signedIn: number;
  signIns: number;
  slowestSignInMs: number;
}

const listEveryMs = 40;
const signInEveryMs = 2000;
const maxMs = 15_000;

/** Runs until it is stopped, over a few connections, as browsers and proxies do. */
export function startHonest(url: string, authorization: string): { stop(): Promise<Experience> } {
  const agent = new Agent({ keepAlive: true, maxSockets: 6, localAddress: '127.0.0.5' });
  const [listed, signedIn]: [number[], number[]] = [[], []];
  const [lists, signIns]: [Promise<void>[], Promise<void>[]] = [[], []];
  let failed = 0;
  const list = async (): Promise<void> => {
    const started = performance.now();
    const status = await ask(agent, `${url}/api/admin/orders?page_size=10`, { authorization });
    listed.push(performance.now() - started);
    if (status !== 200) failed++;
  };
  const signIn = async (): Promise<void> => {
    const started = performance.now();
    const body = JSON.stringify({ username: 'admin', password: adminPassword });
    const status = await ask(agent, `${url}/api/admin/login`, { 'content-type': 'application/json' }, body);
    if (status === 200) signedIn.push(performance.now() - started);
  };
  const timers = [
    setInterval(() => lists.push(list()), listEveryMs),
    setInterval(() => signIns.push(signIn()), signInEveryMs),
  ];
  return {
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await Promise.all([...lists, ...signIns]);
      agent.destroy();
      return {
        ...{ lists: listed.length, failed, ...percentiles(listed) },
        ...{ signedIn: signedIn.length, signIns: signIns.length, slowestSignInMs: Math.max(0, ...signedIn) },
      };
    },
  };
}

/** @returns the status; 0 when there was no answer */
function ask(agent: Agent, url: string, headers: Record<string, string>, body?: string): Promise<number> {
  return new Promise((resolve) => {
    const sent = request(
      url,
      { agent, headers, method: body ? 'POST' : 'GET', timeout: maxMs },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
        response.on('error', () => resolve(0));
      },
    );
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve(0));
    sent.end(body);
  });
}
