// The HTTP server with Node's own limits, and its drain. deploy/nginx.conf limits addresses, rates, bodies
// and slow clients.
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { createServer, IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { config } from '../../../config/index.js';
import { StartRefused } from '../../lib/process/lifecycle.js';
import { createApp } from '../app.js';
import { closeConnections } from './live-connections.js';
import { acceptSockets } from './notification-socket.js';

/** A connection is closed after so many requests. */
const maxRequestsPerSocket = 1000;

/** Listens; resolves when connections are accepted. @throws StartRefused when the address cannot be used */
export function listen(port: number, host: string): Promise<Server> {
  const options = {
    IncomingMessage: IncomingRequest,
    maxHeaderSize: 16_384,
    headersTimeout: Math.min(10_000, config.storage.uploadTimeoutMs),
    // An upload may take longer than any other request; the proxy is stricter with the others.
    requestTimeout: config.storage.uploadTimeoutMs,
    keepAliveTimeout: 65_000,
    connectionsCheckingInterval: 2000,
  };
  const handle = createApp().callback();
  const server = createServer(options, (request, response) => {
    const handled = handle(request, response).finally(() => handling.delete(handled));
    handling.add(handled);
  });
  server.maxConnections = config.app.connectionsMax;
  server.maxRequestsPerSocket = maxRequestsPerSocket;
  const stopSockets = acceptSockets(server);
  server.once('close', stopSockets);
  server.prependListener('request', (_, response) => {
    if (draining) response.setHeader('Connection', 'close');
    running.add(response);
    response.once('close', () => running.delete(response));
  });
  return new Promise((resolve, reject) => {
    server.once('error', ({ message }) =>
      reject(new StartRefused(`HOST and PORT cannot be used: ${message}`)),
    );
    server.listen(port, host, () => resolve(server));
  });
}

// Pending answers. Once the server drains, each gets `Connection: close`.
const running = new Set<ServerResponse>();

// Requests that are still handled, also after their connection was cut.
const handling = new Set<Promise<void>>();

let draining = false;

/** How long answers on kept connections get `Connection: close`. */
const closingMs = 1500;

/**
 * Drains: closes keep-alive connections with their next answer, then accepts no more, lets running requests end, and
 * cuts the rest shortly before the deadline. Closing one at once would lose a request on its way.
 */
export async function drain(server: Server): Promise<void> {
  draining = true;
  closeConnections();
  for (const response of running) if (!response.headersSent) response.setHeader('Connection', 'close');
  for (let waited = 0; waited < closingMs && (await hasConnections(server)); waited += 50) await sleep(50);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const idle = setInterval(() => server.closeIdleConnections(), 100);
  await Promise.race([closed, sleep(config.app.shutdownMs * 0.7 - closingMs, undefined, { ref: false })]);
  clearInterval(idle);
  server.closeAllConnections();
  // An upload that was cut off removes its file.
  await Promise.race([Promise.all(handling), sleep(cuttingMs, undefined, { ref: false })]);
  if (cluster.worker) await leave(cluster.worker);
}

/** How long the handling of what was cut off may take. */
const cuttingMs = 500;

/** How long the primary of a cluster may take to let go of this process. */
const leavingMs = 1000;

// The primary may have sent a connection before it knew; it takes that back, but not from a process that has ended.
async function leave(worker: Worker): Promise<void> {
  const left = once(worker, 'disconnect');
  worker.disconnect();
  await Promise.race([left, sleep(leavingMs, undefined, { ref: false })]);
}

const hasConnections = (server: Server): Promise<boolean> =>
  new Promise((resolve) => server.getConnections((error, count) => resolve(!error && count > 0)));

/**
 * A server ignores an Upgrade it does not support (RFC 9110, 7.8); Java and curl offer h2c with every plain
 * HTTP request. Node passes any Upgrade to the WebSocket listener.
 */
class IncomingRequest extends IncomingMessage {
  // Not a private field: Node sets `upgrade` before there could be one.
  declare private wantsUpgrade: boolean | null;

  set upgrade(wanted: boolean | null) {
    this.wantsUpgrade = wanted;
  }

  get upgrade(): boolean {
    return this.wantsUpgrade === true && this.headers.upgrade?.toLowerCase() === 'websocket';
  }
}
