// A Redis Cluster of three masters with a replica each.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { programPath } from './faults.js';
import { freePort } from './free-port.js';
import { OwnRedis, withoutRedis } from './redis.js';
import { until } from './until.js';

const run = promisify(execFile);
// A master without slots stays one, so that slots can be moved back.
const migration = ['--cluster-allow-replica-migration', 'no'];
const options = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '3000', ...migration];

interface Node {
  id: string;
  port: number;
  isMaster: boolean;
  slots: number;
}

export class OwnCluster {
  readonly servers: OwnRedis[];

  constructor(servers: OwnRedis[]) {
    this.servers = servers;
  }

  get env(): Record<string, string> {
    const nodes = this.servers.slice(0, 2).map(({ port }) => `127.0.0.1:${port}`);
    return { ...withoutRedis, REDIS_CLUSTER_NODES: nodes.join(',') };
  }

  /** The server that is now master of the slot of that key. */
  async masterOf(key: string): Promise<OwnRedis> {
    const any = await this.#healthy();
    const slot = Number(await any.run('CLUSTER', 'KEYSLOT', key));
    const ranges = (await any.run('CLUSTER', 'SLOTS')) as [number, number, [string, number]][];
    const range = ranges.find(([from, to]) => from <= slot && slot <= to);
    return this.servers.find(({ port }) => port === range?.[2][1]) as OwnRedis;
  }

  /** Waits until every slot is served, every node is there, and every replica has what its master has. */
  async isWhole(): Promise<void> {
    const isWell = async (server: OwnRedis): Promise<boolean> => {
      const [info, nodes, replication] = await Promise.all([
        server.run('CLUSTER', 'INFO'),
        server.run('CLUSTER', 'NODES'),
        server.run('INFO', 'replication'),
      ]);
      const isServed = String(info).includes('cluster_state:ok') && !/fail|handshake/.test(String(nodes));
      return isServed && /role:master|master_link_status:up/.test(String(replication));
    };
    await until(async () => (await Promise.all(this.servers.map(isWell))).every(Boolean), 30_000);
  }

  /** Moves all slots of the master of that key to another master. */
  async reshard(key: string): Promise<void> {
    const nodes = await this.#nodes();
    const { port } = await this.masterOf(key);
    const from = nodes.find((node) => node.port === port) as Node;
    const to = nodes.find((node) => node.isMaster && node.slots > 0 && node !== from) as Node;
    const which = ['--cluster-from', from.id, '--cluster-to', to.id, '--cluster-slots', String(from.slots)];
    await this.#cli('reshard', `127.0.0.1:${port}`, ...which, '--cluster-yes');
  }

  /** Spreads the slots evenly over the masters. */
  async rebalance(): Promise<void> {
    const { port } = await this.#healthy();
    await this.#cli('rebalance', `127.0.0.1:${port}`, '--cluster-use-empty-masters');
  }

  async remove(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.remove()));
  }

  async create(): Promise<void> {
    const addresses = this.servers.map(({ port }) => `127.0.0.1:${port}`);
    await this.#cli('create', ...addresses, '--cluster-replicas', '1', '--cluster-yes');
    await this.isWhole();
  }

  async #cli(command: string, ...args: string[]): Promise<void> {
    await run(programPath('redis-cli', 'valkey-cli'), ['--cluster', command, ...args]);
  }

  async #healthy(): Promise<OwnRedis> {
    for (const server of this.servers) if (await server.run('PING').catch(() => undefined)) return server;
    throw new Error('no node answers');
  }

  async #nodes(): Promise<Node[]> {
    const any = await this.#healthy();
    return String(await any.run('CLUSTER', 'NODES'))
      .trim()
      .split('\n')
      .map((line) => {
        const [id = '', address = '', flags = '', , , , , , ...ranges] = line.split(' ');
        const slots = ranges.map((range) => {
          const [from = 0, to = from] = range.split('-').map(Number);
          return to - from + 1;
        });
        const port = Number(/:(\d+)@/.exec(address)?.[1]);
        const isMaster = flags.includes('master') && !flags.includes('fail');
        return { id, port, isMaster, slots: slots.reduce((sum, count) => sum + count, 0) };
      });
  }
}

/** Starts one; resolves when it serves. */
export async function startOwnCluster(): Promise<OwnCluster> {
  const servers: OwnRedis[] = [];
  while (servers.length < 6) {
    const [port, clusterPort] = [await freePort(), await freePort()];
    servers.push(new OwnRedis(port, [...options, '--cluster-port', String(clusterPort)]));
  }
  await Promise.all(servers.map((server) => server.start()));
  const cluster = new OwnCluster(servers);
  await cluster.create();
  return cluster;
}
