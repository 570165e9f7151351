// A master with two replicas and three Sentinels, configured by the files of deploy/.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RedisOptions } from 'ioredis';
import { deployed, ownFolder, programPath } from './faults.js';
import { freePort } from './free-port.js';
import { OwnRedis, withoutRedis } from './redis.js';
import { until } from '../until.js';

/** Certificate and key of servers that speak TLS only and know accounts. */
interface Secured {
  cert: string;
  key: string;
  pem: string;
}

const tester = 'user tester on >tester-password ~* &* +@all';

function access(secured: Secured | undefined): RedisOptions {
  if (!secured) return {};
  return { username: 'tester', password: 'tester-password', tls: { ca: secured.pem } };
}

/** What a file of deploy/ adds, with the certificate of the test, an account for it, and the prefix of its keys. */
function users(name: string, secured: Secured | undefined): string {
  if (!secured) return '';
  return `${deployed(name)
    .replace(/^tls-port .*/m, '')
    .replaceAll('{back-office', `{${process.env.REDIS_PREFIX}`)
    .replace(/^(tls-cert-file|tls-ca-cert-file) .*/gm, `$1 ${secured.cert}`)
    .replace(/^(tls-key-file) .*/m, `$1 ${secured.key}`)}\n${tester}\n`;
}

/** A Redis as deploy/redis.conf has it; Sentinels have it write into its copy. */
function member(port: number, secured?: Secured, options: string[] = []): OwnRedis {
  const file = join(ownFolder(), 'redis.conf');
  const text = deployed('redis.conf');
  writeFileSync(
    file,
    secured ? `${text.replace(/^port .*/m, '')}\n${users('redis-users.conf', secured)}` : text,
  );
  return new OwnRedis(port, options, file, access(secured));
}

class Sentinel extends OwnRedis {
  constructor(port: number, master: number, secured?: Secured) {
    super(port, [], undefined, access(secured));
    const listening = secured ? `tls-port ${port}` : `port ${port}`;
    const text = deployed('sentinel.conf')
      .replace(/^port .*/m, `${listening}\nbind 127.0.0.1\ndir ${this.folder}`)
      .replace(/^(sentinel monitor mymaster) \S+ \S+/m, `$1 127.0.0.1 ${master}`);
    writeFileSync(join(this.folder, 'sentinel.conf'), `${text}\n${users('sentinel-users.conf', secured)}`);
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

/** Starts them; resolves when each knows the others. @param secured over TLS only, with accounts */
export async function startOwnSentinels(secured?: Secured): Promise<OwnSentinels> {
  const master = member(await freePort(), secured);
  const follow = ['--replicaof', `127.0.0.1 ${master.port}`];
  const replicas = [member(await freePort(), secured, follow), member(await freePort(), secured, follow)];
  const ports = [await freePort(), await freePort(), await freePort()];
  const sentinels = ports.map((port) => new Sentinel(port, master.port, secured));
  const all = new OwnSentinels([master, ...replicas], sentinels);
  await Promise.all([master, ...replicas].map((server) => server.start()));
  await Promise.all(sentinels.map((server) => server.start()));
  await all.isWhole();
  return all;
}
