// A port for a server of a test; a module of its own, because it must be known before the configuration is read.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';

/**
 * A port unique in this run, above 10080, which fetch refuses to call, and below those that the
 * system gives to outgoing connections. Another program may have it.
 *
 * @param home folder of the run
 */
export function likelyPort(home = process.env.THROW_AWAY_HOME): number {
  for (;;) {
    const port = 10_100 + randomInt(19_900);
    if (claim(port, home)) return port;
  }
}

/** The same, free now on loopback; its server may not listen yet. */
export async function freePort(home?: string): Promise<number> {
  for (;;) {
    const port = likelyPort(home);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.close();
    if (isFree) return port;
  }
}

/** Where a server listens. */
export const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** Reserves the port by a file in the folder of the run. @returns false when it is taken */
function claim(port: number, home: string | undefined): boolean {
  if (!home) return true;
  try {
    writeFileSync(join(home, `port-${port}`), '', { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}
