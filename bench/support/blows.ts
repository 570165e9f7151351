// Single hostile requests, and how long one of them keeps the process from everybody else.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Process } from './processes.js';
import { array, bundle, deep, head, keys, login, notify, orders, post, zipped } from './requests.js';

export interface Blow {
  /** Longest answer time of a probe every 5 ms over a connection of its own: the middle of five tries. */
  gapMs: number;
  /**
   * Processor time of the main thread from the request to its answer, the worst of five tries: nobody can have been kept
   * waiting longer than that, but for the machine.
   */
  threadMs: number;
  status: string;
}

const tries = 5;
const probeMs = 5;

const wrongLine = '{"product_id":"x","product_name":1,"price":{},"quantity":-1.5}';

/** Requests by name, largest and most laborious of their kind. */
export function blows(authorization: string): Record<string, string | Buffer> {
  const owned = `Authorization: ${authorization}\r\n`;
  const get = (path: string, more = owned): string => head('GET', path, more);
  const form = 'a[b][c]=1&a[]=2&'.repeat(4000);
  const order = (details: string): Buffer => post(orders, `{"user_id":1,"details":${details}}`, owned);
  return {
    'documentation, uncompressed': get(bundle, ''),
    'order, details of 500,000 numbers as gzip': zipped(
      orders,
      `{"user_id":1,"details":${array('1', 500_000)}}`,
      owned,
    ),
    'order, 5,000 × {}': order(array('{}', 5000)),
    'order, 80,000 × {}': order(array('{}', 80_000)),
    'order, 120,000 numbers': order(array('1', 120_000)),
    'order, 200 lines wrong in every field': order(array(wrongLine, 200)),
    'order, 200 lines with unknown fields': order(array(`{${'"x":1,'.repeat(100)}"y":1}`, 200)),
    'order, numbers of 18 digits': order(array('123456789012345678', 9000)),
    'order, a number of 200,000 digits': post(orders, `{"user_id":${'9'.repeat(200_000)}}`, owned),
    'order, nested 100,000-fold': post(orders, deep(100_000), owned),
    'callback, nested 30,000-fold': post(notify, deep(30_000)),
    'callback, 6,000 keys': post(notify, keys(6000)),
    'callback, 20,000 × {}': post(notify, `{"z":${array('{}', 20_000)}}`),
    'callback, form of 8,000 nested names': post(notify, form)
      .toString()
      .replace('application/json', 'application/x-www-form-urlencoded'),
    'payment method, 6,000 keys of {}': post(
      '/api/admin/payment-methods',
      `{"type":"mock","config":${keys(6000)}}`,
      owned,
    ),
    'role, 9,000 permissions': post(
      '/api/admin/roles',
      `{"name":"a","slug":"a","permission_ids":${array('7', 9000)}}`,
      owned,
    ),
    'administrator, e-mail of 60,000 characters': post(
      '/api/admin/admins',
      `{"username":"a","password":"a","nickname":"a","email":"${'a.'.repeat(30_000)}@a","phone":"${'1 '.repeat(500)}x"}`,
      owned,
    ),
    'sign-in, 1,200 × {}': post(login, `{"username":"a","password":"b","z":${array('{}', 1200)}}`),
    'captcha, drawn': get('/api/admin/login/captcha', ''),
    'list, 1,800 sort terms': get(`${orders}?order_by=${'id:asc,'.repeat(1800)}id:asc`),
    'list, 3,500 parameters': get(`${orders}?${'a=1&'.repeat(3500)}`),
    'no such path, 7,500 parameters': get(`/nowhere?${'a&'.repeat(7500)}`, ''),
    'list, search of 100 wild cards': get(`${orders}?keyword=${'%25'.repeat(100)}`),
    'language of 15 KB': get(orders, `${owned}Accept-Language: ${'en;q=0.1,'.repeat(1700)}\r\n`),
    'address of 15 KB': get(`/${'%41/'.repeat(3700)}`, ''),
  };
}

/** Sends one of them again and again, with nothing else running. */
export async function strike(api: Process, request: string | Buffer): Promise<Blow> {
  const threads: number[] = [];
  let status = '';
  for (let turn = 0; turn < tries; turn++) {
    await sleep(20);
    const before = api.mainThreadMs();
    status = await send(api.url, request);
    threads.push(api.mainThreadMs() - before);
  }
  const gaps: number[] = [];
  for (let turn = 0; turn < tries; turn++) {
    const probe = await startProbe(api.url);
    await sleep(4 * probeMs);
    await send(api.url, request);
    await sleep(4 * probeMs);
    gaps.push(probe.stop());
  }
  gaps.sort((one, other) => one - other);
  return { threadMs: Math.max(...threads), gapMs: gaps[tries >> 1] as number, status };
}

// Reads the whole answer, which an attacker would not.
async function send(url: string, request: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: '127.0.0.8' });
  socket.on('error', () => undefined);
  let status = '';
  let quiet: NodeJS.Timeout | undefined;
  socket.on('data', (data) => {
    status ||= /^HTTP\/1\.1 (\d+)/.exec(data.toString('latin1', 0, 20))?.[1] ?? 'none';
    clearTimeout(quiet);
    quiet = setTimeout(() => socket.destroy(), 15);
  });
  socket.write(request);
  await once(socket, 'close', { signal: AbortSignal.timeout(30_000) });
  return status || 'closed';
}

async function startProbe(url: string): Promise<{ stop: () => number }> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: '127.0.0.9', noDelay: true });
  await once(socket, 'connect');
  let longest = 0;
  let asked = 0;
  const ask = (): void => {
    asked = performance.now();
    socket.write(head('GET', '/healthz'));
  };
  let next: NodeJS.Timeout | undefined;
  socket.on('data', () => {
    longest = Math.max(longest, performance.now() - asked);
    next = setTimeout(ask, probeMs);
  });
  ask();
  return {
    stop() {
      clearTimeout(next);
      socket.destroy();
      return longest;
    },
  };
}
