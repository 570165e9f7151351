// A TCP proxy between the service and one of its servers that can cut connections, or silence them
// without notice to either side.
import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { config } from '../../../config/index.js';
import { portOf } from './free-port.js';
import { reset } from '../reset.js';

/** What no longer arrives: data of both sides, or only the server's answers. */
export type Loss = 'everything' | 'answers';

/** Effect of data of the service on its connection: lost, cut before it arrives, or cut by its answer. */
type Fate = Loss | 'cut' | 'cut by the answer';

interface Pair {
  client: Socket;
  server: Socket;
  lost: Loss | undefined;
  isCutByAnswer: boolean;
}

/** Data that the service sends on a connection. */
type Listener = (data: Buffer) => void;

interface Trap {
  text: string;
  fate: Fate;
}

export class FaultyProxy {
  readonly #listener: Server;
  readonly #pairs = new Set<Pair>();
  readonly #traps: Trap[] = [];
  #target: number;
  #tried = 0;
  #listen: (() => Listener) | undefined;
  #decide: ((said: Buffer) => Fate | undefined) | undefined;
  #newcomers: 'passed' | 'refused' | 'dropped' = 'passed';
  #delayMs = 0;

  /** @param target port of the server on this machine */
  private constructor(target: number) {
    this.#target = target;
    this.#listener = createServer((client) => this.#accept(client));
  }

  static async start(target: number): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target);
    await once(proxy.#listener.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  get port(): number {
    return portOf(this.#listener);
  }

  /** Number of connection attempts so far. */
  get tried(): number {
    return this.#tried;
  }

  /** Silences every open connection for ever; new ones work. @returns how many were open */
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
   * Silences the next connection on which the service sends this, at that moment: `everything` loses the data as well,
   * `answers` only the reply.
   */
  forgetAt(text: string, loss: Loss = 'everything'): void {
    this.#traps.push({ text, fate: loss });
  }

  /** Cuts the next connection on which the service sends this, at that moment. */
  cutAt(text: string): void {
    this.#traps.push({ text, fate: 'cut' });
  }

  /** Number of armed faults that have not happened yet. */
  get armed(): number {
    return this.#traps.length;
  }

  /** Decides about all data the service sends from now on; without a function it is forwarded. */
  decide(decide?: (said: Buffer) => Fate | undefined): void {
    this.#decide = decide;
  }

  /** Silences every connection, future ones included. */
  drop(): void {
    this.forget();
    this.#newcomers = 'dropped';
  }

  /** Cuts every connection, future ones included. */
  refuse(): void {
    this.#newcomers = 'refused';
    this.cut();
  }

  /** Cuts every open connection; new ones work. */
  cut(): void {
    this.#pairs.forEach(disconnect);
  }

  /** Lets new connections work again; silenced ones stay silent. */
  pass(): void {
    this.#newcomers = 'passed';
  }

  /**
   * Records the text statements of new connections.
   *
   * @returns the statements so far
   */
  listenIn(): string[] {
    const statements: string[] = [];
    this.#listen = () => statementsInto(statements);
    return statements;
  }

  /** Delays the server's answers. */
  slow(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  /** Leads new connections to another server, like a changed DNS name. */
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
      reset(client);
      return;
    }
    const server = createConnection(this.#target, '127.0.0.1');
    const lost = this.#newcomers === 'dropped' ? 'everything' : undefined;
    const pair: Pair = { client, server, lost, isCutByAnswer: false };
    this.#pairs.add(pair);
    const listener = this.#listen?.();
    client.on('data', (data) => {
      listener?.(data);
      const fate = pair.lost ? undefined : (this.#decide?.(data) ?? this.#trapped(data));
      if (fate === 'cut') return disconnect(pair);
      if (fate === 'cut by the answer') pair.isCutByAnswer = true;
      else if (fate) pair.lost = fate;
      if (pair.lost !== 'everything' && !server.destroyed) server.write(data);
    });
    server.on('data', (data) => {
      if (pair.isCutByAnswer) disconnect(pair);
      else if (pair.lost) return;
      else if (this.#delayMs > 0) setTimeout(() => client.write(data), this.#delayMs);
      else client.write(data);
    });
    for (const socket of [client, server]) socket.setNoDelay(true).on('error', () => undefined);
    // A silenced side cannot close the connection either: for the other one it is still open.
    client.on('close', () => {
      if (pair.lost !== 'everything') server.destroy();
    });
    server.on('close', () => {
      this.#pairs.delete(pair);
      if (!pair.lost) client.destroy();
    });
  }

  #trapped(data: Buffer): Fate | undefined {
    const at = this.#traps.findIndex(({ text }) => data.includes(text));
    return at < 0 ? undefined : this.#traps.splice(at, 1)[0]?.fate;
  }
}

function disconnect({ client, server }: Pair): void {
  reset(client);
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
      // For MySQL the driver first sends the number of query attributes: none, in one set.
      const start = rest[5] === 0 && rest[6] === 1 ? 7 : 5;
      if (rest[4] === comQuery) statements.push(rest.subarray(start, end).toString());
      rest = rest.subarray(end);
    }
  };
}

/** One in front of the database of this test file, with the settings that lead a process to it. */
export async function beforeDatabase(): Promise<FaultyProxy & { env: Record<string, string> }> {
  const proxy = await FaultyProxy.start(config.database.port);
  return Object.assign(proxy, { env: databaseEnv(proxy.port) });
}

/** Settings that connect a process to a database behind that port. */
export const databaseEnv = (port: number): Record<string, string> => ({
  ...{ DB_HOST: '127.0.0.1', DB_PORT: String(port), DATABASE_URL: '' },
});

/** One in front of the Redis of this test file, with the settings that lead a process to it. */
export async function beforeRedis(): Promise<FaultyProxy & { env: Record<string, string> }> {
  const { server, username = '', password = '', db } = config.redis;
  const proxy = await FaultyProxy.start(server.port);
  const account = `${encodeURIComponent(username)}:${encodeURIComponent(password)}`;
  return Object.assign(proxy, { env: { REDIS_URL: `redis://${account}@127.0.0.1:${proxy.port}/${db}` } });
}
