// Where the API listens: the configured port or the next free one, and whether it answers there.
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort } from './daemon.mjs';
import { refuseWhenEnding } from './lifetime.mjs';
import { Failure, note } from './step.mjs';

const DEFAULT_PORT = 3000;
const PORTS_TRIED = 100;
const READY_TIMEOUT_MS = 120_000; // the first start migrates and seeds, maybe on a slow disk

/** Chooses host and port; a configured port that is taken is a Failure, the default one gives way. */
export async function chooseAddress() {
  const host = process.env.HOST || (process.env.NODE_ENV === 'production' ? '0.0.0.0' : '127.0.0.1');
  const port = process.env.PORT ? await configuredPort(host) : await nextFreePort(host);
  // What listens on every interface or on the loopback interface is reached as localhost.
  const isLocal = ['0.0.0.0', '::', '127.0.0.1', '::1', 'localhost'].includes(host);
  const name = isLocal ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return { port, url: `http://${name}:${port}` };
}

/** Waits until the service says that it can work: database and Redis answer. */
export async function waitUntilReady(url) {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (!(await isReady(url))) {
    refuseWhenEnding();
    if (Date.now() > deadline)
      throw new Failure(`${url}/readyz does not answer 200; see the log lines above`);
    await sleep(50);
  }
}

async function isReady(url) {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
}

async function configuredPort(host) {
  const port = Number(process.env.PORT);
  if (port === 0) return freePort();
  if (await isFree(port, host)) return port;
  throw new Failure(
    `PORT ${process.env.PORT} is in use by another program, or not a port; choose another one`,
  );
}

async function nextFreePort(host) {
  for (let port = DEFAULT_PORT; port < DEFAULT_PORT + PORTS_TRIED; port++) {
    if (!(await isFree(port, host))) continue;
    if (port !== DEFAULT_PORT) note(`port ${DEFAULT_PORT} is in use, taking ${port}`);
    return port;
  }
  throw new Failure(`no free port from ${DEFAULT_PORT} on; set PORT`);
}

function isFree(port, host) {
  return new Promise((resolve) => {
    if (!Number.isInteger(port) || port < 1 || port > 65_535) return resolve(false);
    const server = createServer();
    server.on('error', () => resolve(false));
    return server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
