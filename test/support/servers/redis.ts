// A private Redis of a test, configured as for production: append-only file, no eviction.
import { Redis, type RedisOptions } from 'ioredis';
import { matchingKeys, patientRedis as redis } from '../../../src/lib/redis/redis.js';
import { OwnServer, programPath } from './faults.js';
import { freePort } from './free-port.js';

/** Settings under which nothing can be reached where Redis should be. */
export const withoutRedis = {
  REDIS_URL: 'redis://127.0.0.1:1',
  REDIS_SENTINELS: '',
};

const impatient = { retryStrategy: () => null, connectTimeout: 2000, commandTimeout: 2000 };

export class OwnRedis extends OwnServer {
  readonly #options: string[];
  readonly #file: string | undefined;
  readonly #access: RedisOptions;
  override readonly env = {
    ...withoutRedis,
    REDIS_URL: `redis://127.0.0.1:${this.port}/0`,
  };

  /**
   * @param options of the server besides the common ones; a later one wins
   * @param file with settings of its own
   * @param access of the test itself
   */
  constructor(port: number, options: string[] = [], file?: string, access: RedisOptions = {}) {
    super(port);
    this.#options = options;
    this.#file = file;
    this.#access = access;
  }

  /** Sends one command over a connection of its own. */
  async run(command: string, ...args: (string | number)[]): Promise<unknown> {
    const connection = new Redis(this.port, { ...impatient, ...this.#access, lazyConnect: true });
    connection.on('error', () => undefined);
    try {
      await connection.connect();
      return await connection.call(command, ...args);
    } finally {
      connection.disconnect();
    }
  }

  protected override command(): [string, ...string[]] {
    const port = [this.#access.tls ? '--tls-port' : '--port', String(this.port)];
    const folder = ['--dir', this.folder, '--bind', '127.0.0.1', ...port];
    const durable = ['--appendonly', 'yes', '--save', '', '--maxmemory-policy', 'noeviction'];
    const file = this.#file === undefined ? [] : [this.#file];
    return [programPath('redis-server', 'valkey-server'), ...file, ...folder, ...durable, ...this.#options];
  }

  protected override async answers(): Promise<boolean> {
    return (await this.run('PING')) === 'PONG';
  }
}

/** Removes everything this test file has in the Redis that all of them share. */
export async function emptyRedis(): Promise<void> {
  for await (const keys of matchingKeys(`{${process.env.REDIS_PREFIX}*`))
    await Promise.all(keys.map((key) => redis.del(key)));
}

/** The keys that match. */
export async function keysLike(pattern: string): Promise<string[]> {
  const found: string[] = [];
  for await (const keys of matchingKeys(pattern)) found.push(...keys);
  return found;
}

/** Starts one. */
export async function startOwnRedis(): Promise<OwnRedis> {
  const server = new OwnRedis(await freePort());
  await server.start();
  return server;
}
