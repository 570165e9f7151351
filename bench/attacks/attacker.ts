// An attack under way, in a process of its own: what it costs its sender must not slow the honest client.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { attacks } from './attacks.js';

interface Target {
  url: string;
  /** `Authorization` of an administrator who may place orders. */
  authorization: string;
  seconds: number;
}

export class Field {
  readonly target: Target;
  readonly sockets = new Set<Socket>();
  readonly #until: number;
  opened = 0;
  sent = 0;

  constructor(target: Target) {
    this.target = target;
    this.#until = Date.now() + target.seconds * 1000;
  }

  get remainingMs(): number {
    return Math.max(0, this.#until - Date.now());
  }

  /** Opens a connection from one of so many addresses. */
  open(addresses = 1): Socket {
    const { hostname: host, port } = new URL(this.target.url);
    const from = this.opened++ % addresses;
    const localAddress = `127.2.${from >> 7}.${1 + (from & 127)}`;
    const socket = connect({ host, port: Number(port), localAddress });
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.sockets.delete(socket));
    return socket.resume();
  }

  /** Sends a request over a fresh connection and waits until it is answered or closed. */
  async send(request: string | Buffer, addresses = 1): Promise<Socket> {
    const socket = this.open(addresses);
    this.sent++;
    socket.write(request);
    await Promise.race([once(socket, 'data'), once(socket, 'close'), sleep(this.remainingMs + 1)]);
    return socket;
  }

  /** Sends a request so many times over a fresh connection and reads nothing until it is closed or the time is over. */
  async pour(request: string, times: number, ms: number): Promise<Socket> {
    const socket = this.open().pause();
    this.sent += times;
    socket.write(request.repeat(times));
    await Promise.race([once(socket, 'close'), sleep(ms)]);
    return socket;
  }

  /** So many lines at once, each doing its work again and again until the attack is over. */
  async repeat(lines: number, work: () => Promise<unknown>): Promise<void> {
    const line = async (): Promise<void> => {
      while (this.remainingMs > 0) await work().catch(() => sleep(5));
    };
    await Promise.all(Array.from({ length: lines }, line));
  }

  /** So many lines at once, each sending one request after the other over connections of their own. */
  flood(lines: number, requests: (string | Buffer)[], addresses = 1): Promise<void> {
    return this.repeat(lines, async () => {
      const socket = await this.send(requests[this.sent % requests.length] as string, addresses);
      socket.destroy();
    });
  }

  /** Sends a byte of the request a second over each connection, from byte `at` on; opens a closed one again. */
  async drip(connections: number, request: Buffer, at: number): Promise<void> {
    while (this.remainingMs > 0) {
      while (this.sockets.size < connections) this.open(4).write(request.subarray(0, at));
      await sleep(1000);
      for (const socket of this.sockets) {
        const sent = socket.bytesWritten;
        socket.write(request.subarray(sent, sent + 1));
      }
    }
  }

  /** Opens that many connections and sends nothing. */
  async crowd(connections: number, addresses: number): Promise<void> {
    for (let index = 0; index < connections && this.remainingMs > 0; index++) {
      this.open(addresses);
      if (index % 200 === 0) await sleep(20);
    }
    await sleep(this.remainingMs);
  }

  /** Ends all connections. @returns what happened */
  end(): string {
    const open = this.sockets.size;
    for (const socket of this.sockets) socket.destroy();
    return `${this.sent} requests over ${this.opened} connections, ${open} open at the end`;
  }
}

process.on('message', async ({ name, target }: { name: string; target: Target }) => {
  const field = new Field(target);
  await attacks[name]?.(field);
  process.send?.(field.end());
});
process.send?.('ready');
