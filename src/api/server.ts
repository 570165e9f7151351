// The HTTP server around the application, with its limits, and how it drains.
import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { config } from '../../config/index.js';
import { createApp } from './app.js';
import { closeConnections } from './live-connections.js';
import { acceptSockets } from './notification-socket.js';

/** Listens; resolves when connections are accepted. */
export function listen(port: number, host: string): Promise<Server> {
  const handle = createApp().callback();
  const server = createServer(
    { maxHeaderSize: 16_384 },
    (request, response) => void handle(request, response),
  );
  server.headersTimeout = 10_000;
  server.requestTimeout = config.app.requestTimeoutMs;
  server.keepAliveTimeout = 65_000;
  const stopSockets = acceptSockets(server);
  server.once('close', stopSockets);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}

/** Accepts nothing new, lets running requests end, and cuts what is still open shortly before the deadline. */
export async function drain(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  closeConnections();
  server.closeIdleConnections();
  const idle = setInterval(() => server.closeIdleConnections(), 100);
  await Promise.race([closed, sleep(config.app.shutdownMs * 0.7, undefined, { ref: false })]);
  clearInterval(idle);
  server.closeAllConnections();
}
