// A Redis of a test's own, set up as production wants it: append-only file, nothing evicted.
import { Redis } from 'ioredis';
import { patientRedis as redis } from '../../src/lib/redis.js';
import { OwnServer, programPath } from './faults.js';
import { freePort } from './free-port.js';

export class OwnRedis extends OwnServer {
  override readonly env = { REDIS_URL: `redis://127.0.0.1:${this.port}/0` };

  /** Sends one command over a connection of its own. */
  async run(command: string, ...args: (string | number)[]): Promise<unknown> {
    const connection = new Redis(this.env.REDIS_URL, { retryStrategy: () => null, lazyConnect: true });
    connection.on('error', () => undefined);
    try {
      await connection.connect();
      return await connection.call(command, ...args);
    } finally {
      connection.disconnect();
    }
  }

  protected override command(): [string, ...string[]] {
    const folder = ['--dir', this.folder, '--bind', '127.0.0.1', '--port', String(this.port)];
    const durable = ['--appendonly', 'yes', '--save', '', '--maxmemory-policy', 'noeviction'];
    return [programPath('redis-server', 'valkey-server'), ...folder, ...durable];
  }

  protected override async answers(): Promise<boolean> {
    return (await this.run('PING')) === 'PONG';
  }
}

/** Removes everything this test file has in the Redis that all of them share. */
export async function emptyRedis(): Promise<void> {
  const keys = await redis.keys(`{${process.env.REDIS_PREFIX}*`);
  if (keys.length > 0) await redis.del(...keys);
}

/** Starts one. */
export async function startOwnRedis(): Promise<OwnRedis> {
  const server = new OwnRedis(await freePort());
  await server.start();
  return server;
}
