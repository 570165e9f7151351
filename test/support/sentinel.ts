// A master with two replicas and three Sentinels, set up by the files of deploy/.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { config } from '../../config/index.js';
import { ownFolder, programPath } from './faults.js';
import { freePort } from './free-port.js';
import { OwnRedis, withoutRedis } from './redis.js';
import { until } from './until.js';

const deployed = (name: string): string => resolve(config.root, 'deploy', name);

/** A Redis as deploy/redis.conf has it; Sentinels have it write into its copy. */
function member(port: number, options: string[] = []): OwnRedis {
  const file = join(ownFolder(), 'redis.conf');
  copyFileSync(deployed('redis.conf'), file);
  return new OwnRedis(port, options, file);
}

class Sentinel extends OwnRedis {
  constructor(port: number, master: number) {
    super(port);
    const text = readFileSync(deployed('sentinel.conf'), 'utf8')
      .replace(/^port .*/m, `port ${port}\nbind 127.0.0.1\ndir ${this.folder}`)
      .replace(/^(sentinel monitor mymaster) \S+ \S+/m, `$1 127.0.0.1 ${master}`);
    writeFileSync(join(this.folder, 'sentinel.conf'), text);
  }

  protected override command(): [string, ...string[]] {
    return [programPath('redis-server', 'valkey-server'), join(this.folder, 'sentinel.conf'), '--sentinel'];
  }
}

export class OwnSentinels {
  readonly #servers: OwnRedis[];
  readonly #sentinels: OwnRedis[];

  constructor(servers: OwnRedis[], sentinels: OwnRedis[]) {
    this.#servers = servers;
    this.#sentinels = sentinels;
  }

  get env(): Record<string, string> {
    const sentinels = this.#sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
    return { ...withoutRedis, REDIS_SENTINELS: sentinels };
  }

  /** The server that the Sentinels call the master. */
  async master(): Promise<OwnRedis> {
    return until(async () => {
      for (const sentinel of this.#sentinels) {
        const found = await sentinel.run('SENTINEL', 'get-master-addr-by-name', 'mymaster').catch(() => []);
        const server = this.#servers.find(({ port }) => String(port) === (found as string[])[1]);
        if (server) return server;
      }
      return undefined;
    });
  }

  /** Waits until the master has that many replicas, and every Sentinel knows them and the others. */
  async isWhole(replicas = this.#servers.length - 1): Promise<void> {
    await until(async () => {
      const info = String(await (await this.master()).run('INFO', 'replication').catch(() => ''));
      return new RegExp(`role:master\\r\\nconnected_slaves:${replicas}\\r`).test(info);
    }, 30_000);
    for (const sentinel of this.#sentinels)
      await until(async () => {
        const line = String(await sentinel.run('INFO', 'sentinel'));
        return line.includes(`status=ok`) && line.includes(`slaves=${this.#servers.length - 1},sentinels=3`);
      }, 30_000);
  }

  async remove(): Promise<void> {
    await Promise.all([...this.#sentinels, ...this.#servers].map((server) => server.remove()));
  }
}

/** Starts them; resolves when each knows the others. */
export async function startOwnSentinels(): Promise<OwnSentinels> {
  const master = member(await freePort());
  const follow = ['--replicaof', `127.0.0.1 ${master.port}`];
  const replicas = [member(await freePort(), follow), member(await freePort(), follow)];
  const ports = [await freePort(), await freePort(), await freePort()];
  const sentinels = ports.map((port) => new Sentinel(port, master.port));
  const all = new OwnSentinels([master, ...replicas], sentinels);
  await Promise.all([master, ...replicas].map((server) => server.start()));
  await Promise.all(sentinels.map((server) => server.start()));
  await all.isWhole();
  return all;
}
