// The port for supervisors and Prometheus: /healthz, /readyz and /metrics of one process, separate from clients.
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { config } from '../../../config/index.js';
import { logger } from './logger.js';
import { exposition, expositionType, watchProcess } from './metrics.js';

/** Status of a process; `isReady` says whether it can work. */
export type Readiness = { isReady: boolean } & Record<string, boolean>;

const { metricsPort, metricsHost, metricsToken } = config.watching;

/** Retry interval for a port in use, such as by the process this one replaces. */
const againMs = 2000;
const maxConnections = 50;

/**
 * Opens the port when METRICS_PORT is set. One that cannot be opened is retried in the background: monitoring is
 * not required for work.
 *
 * @param readiness called for each /readyz
 * @returns a function that closes it
 */
export function openWatchPort(name: 'api' | 'worker', readiness: () => Promise<Readiness>): () => void {
  if (metricsPort === undefined) return () => undefined;
  watchProcess(name);
  const server = createServer({ headersTimeout: 5000, requestTimeout: 5000 }, (request, response) => {
    void answer(request, response, readiness);
  });
  server.maxConnections = maxConnections;
  const closing = new AbortController();
  void listen(server, metricsPort, closing.signal);
  return () => {
    closing.abort();
    server.close();
    server.closeAllConnections();
  };
}

async function listen(server: Server, port: number, closing: AbortSignal): Promise<void> {
  server.on('listening', () =>
    logger.info({ port: (server.address() as AddressInfo).port, host: metricsHost }, 'metrics are served'),
  );
  let isReported = false;
  server.on('error', (error) => {
    if (!isReported) logger.warn({ error }, 'METRICS_HOST and METRICS_PORT cannot be used yet; retrying');
    isReported = true;
  });
  while (!closing.aborted && !server.listening) {
    server.listen(port, metricsHost);
    await sleep(againMs, undefined, { ref: false });
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  readiness: () => Promise<Readiness>,
): Promise<void> {
  const path = request.url?.split('?')[0];
  try {
    if (request.method !== 'GET') end(response, 405, { status: 'GET only' });
    else if (path === '/healthz')
      end(response, 200, {
        status: 'ok',
        version: config.version,
        commit: config.commit,
        pid: process.pid,
      });
    else if (path === '/readyz') {
      const { isReady, ...parts } = await readiness();
      // In the words of the API's own /readyz.
      const words = Object.entries(parts).map(([part, answers]) => [part, answers ? 'ok' : 'away']);
      const state = Object.fromEntries(words) as Record<string, string>;
      end(response, isReady ? 200 : 503, { status: isReady ? 'ok' : 'not ready', ...state });
    } else if (path !== '/metrics') end(response, 404, { status: 'there is /metrics, /healthz and /readyz' });
    else if (!mayRead(request)) end(response, 401, { status: 'the token is missing or wrong' });
    else {
      const text = await exposition();
      response.writeHead(200, { 'Content-Type': expositionType }).end(text);
    }
  } catch (error) {
    logger.warn({ error, path }, 'the metrics port failed to answer');
    end(response, 503, { status: 'not ready' });
  }
}

function end(response: ServerResponse, status: number, content: object): void {
  if (!response.headersSent) response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(content));
}

function mayRead(request: IncomingMessage): boolean {
  if (metricsToken === undefined) return true;
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(request.headers.authorization ?? ''), digest(`Bearer ${metricsToken}`));
}
