// Where the API listens: the configured port or the next free one, and whether it answers there.
import { get } from 'node:http';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { refuseWhenEnding } from './lifetime.mjs';
import { Failure, note } from './step.mjs';

const DEFAULT_PORT = 3000;
const PORTS_TRIED = 100;
const READY_TIMEOUT_MS = 120_000; // the first start migrates and seeds, maybe on a slow disk

/** Chooses the port; a configured one that is taken is a Failure, the default one gives way. */
export async function chooseAddress() {
  const host = process.env.HOST || (process.env.NODE_ENV === 'production' ? '0.0.0.0' : '127.0.0.1');
  const port = process.env.PORT ? await configuredPort(host) : await nextFreePort(host);
  // A server on all interfaces or on loopback is reachable as localhost.
  const isLocal = ['0.0.0.0', '::', '127.0.0.1', '::1', 'localhost'].includes(host);
  const name = isLocal ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return { port, url: `http://${name}:${port}` };
}

/** A loopback port that nobody uses at this moment. */
export async function freePort() {
  const port = await listenOnce(0, '127.0.0.1');
  if (port === undefined) throw new Failure('no loopback port is free');
  return port;
}

/** Waits until the service says that it can work: database and Redis answer. @param {string} url */
export async function waitUntilReady(url) {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (!(await isThere(`${url}/readyz`))) {
    refuseWhenEnding();
    if (Date.now() > deadline)
      throw new Failure(`${url}/readyz does not answer 200; see the log lines above`);
    await sleep(30);
  }
}

/**
 * Whether a page is answered with 200. The connection ends with the answer: a stopping service would wait for a kept one.
 *
 * @param {string} url
 * @returns {Promise<boolean>}
 */
export function isThere(url) {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: 2000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}

/** @param {string} host */
async function configuredPort(host) {
  const port = Number(process.env.PORT);
  if (port === 0) return freePort();
  if (await listenOnce(port, host)) return port;
  throw new Failure(`PORT ${port} is in use by another program; choose another one`);
}

/** @param {string} host */
async function nextFreePort(host) {
  for (let port = DEFAULT_PORT; port < DEFAULT_PORT + PORTS_TRIED; port++) {
    if (!(await listenOnce(port, host))) continue;
    if (port !== DEFAULT_PORT) note(`port ${DEFAULT_PORT} is in use, taking ${port}`);
    return port;
  }
  throw new Failure(`no free port from ${DEFAULT_PORT} on; set PORT`);
}

/** @param {number} port @param {string} host @returns {Promise<number | undefined>} the port, when it is free */
function listenOnce(port, host) {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', (error) =>
      'code' in error && error.code === 'EADDRINUSE'
        ? resolve(undefined)
        : reject(new Failure(`HOST and PORT cannot be used: ${error.message}`)),
    );
    server.listen(port, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : undefined));
    });
  });
}
