// A Galera cluster of three nodes, configured by deploy/galera.cnf, behind HAProxy.
import { execFile } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { OwnDatabase } from './database.js';
import { deployed } from './faults.js';
import { freePort } from './free-port.js';
import { startDatabaseProxy, type OwnHaproxy } from './haproxy.js';
import { until } from '../until.js';

export class GaleraNode extends OwnDatabase {
  #starting: string[] = [];

  constructor(port: number, groupPort: number, transferPort: number, peers: readonly number[]) {
    super(port);
    const file = join(this.folder, 'galera.cnf');
    const own = `base_port=${groupPort}; gmcast.listen_addr=tcp://127.0.0.1:${groupPort}; ist.recv_addr=127.0.0.1:${transferPort}; `;
    const text = deployed('galera.cnf')
      .replace(/gcomm:.*/, `gcomm://${peers.map((peer) => `127.0.0.1:${peer}`).join(',')}`)
      .replace(/^(wsrep_node_address = ).*/m, `$1127.0.0.1:${groupPort}`)
      .replace(/gcache\.size=\w+/, `${own}gcache.size=64M`);
    writeFileSync(file, text);
    this.file = `--defaults-file=${file}`;
  }

  /** Starts it as the first of a new cluster, also after it was killed. */
  async startAs(role: 'first' | 'member'): Promise<void> {
    this.#starting = role === 'first' ? ['--wsrep-new-cluster'] : [await this.#whereItWas()];
    await this.start();
  }

  /** Cuts it off from the other nodes, not from its clients; or no longer. */
  async isolate(on: boolean): Promise<void> {
    await this.run(`SET GLOBAL wsrep_provider_options = 'gmcast.isolate=${on ? 1 : 0}'`);
  }

  protected override command(): [string, ...string[]] {
    return [...super.command(), ...this.#starting] as [string, ...string[]];
  }

  protected override async answers(): Promise<boolean> {
    await super.answers();
    const [row] = await this.status('wsrep_local_state');
    return row?.Value === '4';
  }

  /** How many nodes its cluster has. */
  async size(): Promise<number> {
    const [row] = await this.status('wsrep_cluster_size');
    return Number(row?.Value);
  }

  status(name: string): Promise<{ Value: string }[]> {
    return this.select('SHOW GLOBAL STATUS LIKE ?', [name], '');
  }

  // As systemd's galera_recovery: a killed node finds its last position in its tables.
  async #whereItWas(): Promise<string> {
    const [program, ...args] = super.command();
    const { stderr } = await promisify(execFile)(program, [...args, '--wsrep-recover']);
    const position = /Recovered position: (\S+)/.exec(stderr)?.[1];
    if (!position) throw new Error(`no position was recovered: ${stderr}`);
    return `--wsrep-start-position=${position}`;
  }
}

export class OwnGalera {
  readonly nodes: GaleraNode[];
  readonly #proxy: OwnHaproxy;

  constructor(nodes: GaleraNode[], proxy: OwnHaproxy) {
    this.nodes = nodes;
    this.#proxy = proxy;
  }

  /** Waits until all are one cluster. */
  async isWhole(): Promise<void> {
    const areAll = async (node: GaleraNode): Promise<boolean> => {
      const [row] = await node.status('wsrep_local_state');
      return row?.Value === '4' && (await node.size()) === this.nodes.length;
    };
    await until(
      async () =>
        (await Promise.all(this.nodes.map((node) => areAll(node).catch(() => false)))).every(Boolean),
      60_000,
    );
  }

  /** The node with the service's connections. */
  async writer(): Promise<GaleraNode> {
    return until(async () => {
      for (const node of this.nodes) if ((await node.connections().catch(() => [])).length > 0) return node;
      return undefined;
    });
  }

  async remove(): Promise<void> {
    await this.#proxy.remove();
    await Promise.all(this.nodes.map((node) => node.remove()));
  }
}

/**
 * Starts one; resolves when it is whole.
 *
 * @param port leads to one node, which takes all writes
 */
export async function startOwnGalera(port: number): Promise<OwnGalera> {
  const ports = await Promise.all(Array.from({ length: 9 }, freePort));
  const peers = ports.slice(0, 3);
  const nodes = peers.map(
    (peer, index) => new GaleraNode(ports[3 + index] as number, peer, ports[6 + index] as number, peers),
  );
  const [first, ...others] = nodes as [GaleraNode, ...GaleraNode[]];
  await first.install();
  await first.startAs('first');
  await first.stop();
  // The others start as copies of it, so it only sends them its later changes.
  for (const other of others) {
    cpSync(first.data, other.data, { recursive: true });
    for (const name of ['galera.cache', 'gvwstate.dat']) rmSync(join(other.data, name), { force: true });
    cpSync(join(first.folder, 'accounts.sql'), join(other.folder, 'accounts.sql'));
  }
  await first.startAs('first');
  for (const other of others) await other.startAs('member');
  const proxy = await startDatabaseProxy(port, nodes);
  const galera = new OwnGalera(nodes, proxy);
  await galera.isWhole();
  return galera;
}
