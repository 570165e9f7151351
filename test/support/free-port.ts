// A port for a server of a test; here apart, because it must be known before the configuration is read.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** A loopback port that is free now, below those the system gives to outgoing connections by itself. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + randomInt(20_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.close();
    if (isFree) return port;
  }
}
