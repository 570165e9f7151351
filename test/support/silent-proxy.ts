// A TCP proxy between the service and one of its servers, which can lose connections without a word: neither side is told.
import { once } from 'node:events';
import { createConnection, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { config } from '../../config/index.js';

/** What no longer arrives: what either side says, or only what the server answers. */
export type Loss = 'everything' | 'answers';

interface Pair {
  client: Socket;
  server: Socket;
  lost: Loss | undefined;
}

/** What the service says on a connection. */
type Listener = (data: Buffer) => void;

interface Trap {
  text: string;
  loss: Loss | 'cut';
  /** How many connections it may still catch. */
  left: number;
}

export class SilentProxy {
  readonly #listener: Server;
  readonly #pairs = new Set<Pair>();
  readonly #traps: Trap[] = [];
  #target: number;
  #tried = 0;
  #listen: (() => Listener) | undefined;
  #newcomers: 'passed' | 'refused' | 'dropped' = 'passed';

  /** @param target port of the server on this machine */
  private constructor(target: number) {
    this.#target = target;
    this.#listener = createServer((client) => this.#accept(client));
  }

  static async start(target: number): Promise<SilentProxy> {
    const proxy = new SilentProxy(target);
    await once(proxy.#listener.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port;
  }

  /** How many connections a server believes to have with the service. */
  get established(): number {
    return this.#pairs.size;
  }

  /** How many connections were tried so far. */
  get tried(): number {
    return this.#tried;
  }

  /** Every connection there is goes silent, for ever; new ones work. @returns how many there were */
  forget(loss: Loss = 'everything'): number {
    let count = 0;
    for (const pair of this.#pairs) {
      if (pair.lost) continue;
      pair.lost = loss;
      count++;
    }
    return count;
  }

  /**
   * The next connections on which the service says this go silent at that moment: `everything` loses what was said as well,
   * `answers` only what comes back.
   */
  forgetAt(text: string, loss: Loss = 'everything', times = 1): void {
    this.#traps.push({ text, loss, left: times });
  }

  /** The next connection on which the service says this is cut at that moment. */
  cutAt(text: string): void {
    this.#traps.push({ text, loss: 'cut', left: 1 });
  }

  /** How many of those are still to come. */
  get armed(): number {
    return this.#traps.reduce((sum, { left }) => sum + left, 0);
  }

  /** Every connection goes silent, also those that are made from now on. */
  drop(): void {
    this.forget();
    this.#newcomers = 'dropped';
  }

  /** Every connection is cut, and those that are tried from now on as well. */
  refuse(): void {
    this.#newcomers = 'refused';
    this.cut();
  }

  /** Every connection is cut; new ones work. */
  cut(): void {
    this.#pairs.forEach(disconnect);
  }

  /** New connections work again; forgotten ones stay silent. */
  pass(): void {
    this.#newcomers = 'passed';
  }

  /**
   * Writes down the statements of connections that are made from now on, of which the database is told by text.
   *
   * @returns what was said so far
   */
  listenIn(): string[] {
    const statements: string[] = [];
    this.#listen = () => statementsInto(statements);
    return statements;
  }

  /** New connections lead to another server, as when a name is moved. */
  leadTo(target: number): void {
    this.#target = target;
  }

  /** For test.after.always. */
  close(): void {
    this.#listener.close();
    this.cut();
  }

  #accept(client: Socket): void {
    this.#tried++;
    if (this.#newcomers === 'refused') {
      client.resetAndDestroy();
      return;
    }
    const server = createConnection(this.#target, '127.0.0.1');
    const lost = this.#newcomers === 'dropped' ? 'everything' : undefined;
    const pair: Pair = { client, server, lost };
    this.#pairs.add(pair);
    const listener = this.#listen?.();
    client.on('data', (data) => {
      listener?.(data);
      this.#spring(pair, data, 'cut');
      this.#spring(pair, data, 'everything');
      if (pair.lost !== 'everything' && !server.destroyed) server.write(data);
      this.#spring(pair, data, 'answers');
    });
    server.on('data', (data) => {
      if (!pair.lost) client.write(data);
    });
    for (const socket of [client, server]) socket.setNoDelay(true).on('error', () => undefined);
    // Whoever cannot be heard cannot take leave either: the other side goes on believing in the connection.
    client.on('close', () => {
      if (pair.lost !== 'everything') server.destroy();
    });
    server.on('close', () => {
      this.#pairs.delete(pair);
      if (!pair.lost) client.destroy();
    });
  }

  #spring(pair: Pair, data: Buffer, loss: Trap['loss']): void {
    const trap = this.#traps.find((one) => one.left > 0 && one.loss === loss && data.includes(one.text));
    if (!trap || pair.lost) return;
    trap.left--;
    if (loss === 'cut') disconnect(pair);
    else pair.lost = loss;
  }
}

function disconnect({ client, server }: Pair): void {
  client.resetAndDestroy();
  server.destroy();
}

const comQuery = 3;

// A packet: its length in three bytes, its number, and here a command with its text.
function statementsInto(statements: string[]): Listener {
  let rest = Buffer.alloc(0);
  return (data) => {
    rest = Buffer.concat([rest, data]);
    while (rest.length >= 4 && rest.length >= 4 + rest.readUIntLE(0, 3)) {
      const end = 4 + rest.readUIntLE(0, 3);
      if (rest[4] === comQuery) statements.push(rest.subarray(5, end).toString());
      rest = rest.subarray(end);
    }
  };
}

/** One in front of the database of this test file, with the settings that lead a process to it. */
export async function beforeDatabase(): Promise<SilentProxy & { env: Record<string, string> }> {
  const proxy = await SilentProxy.start(config.database.port);
  return Object.assign(proxy, { env: databaseEnv(proxy.port) });
}

/** Settings that lead a process to a database behind that port. */
export const databaseEnv = (port: number): Record<string, string> => ({
  ...{ DB_HOST: '127.0.0.1', DB_PORT: String(port), DATABASE_URL: '' },
});

/** One in front of the Redis of this test file, with the settings that lead a process to it. */
export async function beforeRedis(): Promise<SilentProxy & { env: Record<string, string> }> {
  const url = new URL(config.redis.url);
  const proxy = await SilentProxy.start(Number(url.port || 6379));
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  return Object.assign(proxy, { env: { REDIS_URL: url.href } });
}
