// What a hostile client does to the service for some seconds; run by bench/attacker.ts, a process of its own.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { WebSocket } from 'ws';

export interface Target {
  host: string;
  port: number;
  /** `Authorization` of an administrator who may place orders. */
  authorization: string;
  seconds: number;
}

type Attack = (target: Target) => Promise<string>;

/** Connections that fit into the open files of one process (ulimit -n), of the 10,000 that are tried. */
export const most = 10_000;

/** Counts what came back. */
class Field {
  readonly sockets = new Set<Socket>();
  readonly target: Target;
  readonly until: number;
  opened = 0;
  refused = 0;
  sent = 0;
  readonly statuses = new Map<string, number>();

  constructor(target: Target) {
    this.target = target;
    this.until = Date.now() + target.seconds * 1000;
  }

  get goesOn(): boolean {
    return Date.now() < this.until;
  }

  /** Opens a connection from one of so many addresses. */
  open(addresses = 1, { reads = true } = {}): Socket {
    const { host, port } = this.target;
    const from = this.opened++ % addresses;
    const localAddress = `127.2.${from >> 7}.${1 + (from & 127)}`;
    const socket = connect({ host, port, localAddress });
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    let isAnswered = false;
    if (reads)
      socket.on('data', (data) => {
        isAnswered = true;
        const status = /^HTTP\/1\.1 (\d+)/.exec(data.toString('latin1', 0, 20))?.[1];
        if (status) this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
      });
    socket.once('close', () => {
      this.sockets.delete(socket);
      if (!isAnswered) this.refused++;
    });
    return socket;
  }

  /** So many lines at once, each doing its work again and again until the time is over. */
  async repeat(lines: number, work: () => Promise<unknown>): Promise<void> {
    const line = async (): Promise<void> => {
      while (this.goesOn) await work().catch(() => sleep(5));
    };
    await Promise.all(Array.from({ length: lines }, line));
  }

  /** Sends a request over a fresh connection and waits until it is closed or answered. */
  async ask(request: string | Buffer, addresses = 1): Promise<void> {
    const socket = this.open(addresses);
    this.sent++;
    socket.write(request);
    await this.answered(socket);
    socket.destroy();
  }

  /** Something has come, or never will. */
  async answered(socket: Socket): Promise<void> {
    await Promise.race([once(socket, 'data'), once(socket, 'close'), sleep(this.until - Date.now() + 1)]);
  }

  /** Ends all connections. @returns what happened */
  end(what = 'requests'): string {
    const held = this.sockets.size;
    for (const socket of this.sockets) socket.destroy();
    const answers = [...this.statuses].sort().map(([status, times]) => `${status}: ${times}`);
    return [
      `${this.sent || this.opened} ${this.sent ? what : 'connections'}`,
      this.sent && this.opened !== this.sent ? `${this.opened} connections` : '',
      held ? `${held} open at the end` : '',
      answers.join(', '),
    ]
      .filter(Boolean)
      .join('; ');
  }
}

const head = (method: string, path: string, more = ''): string =>
  `${method} ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;

/** A JSON request. */
export const post = (path: string, body: string | Buffer, more = ''): Buffer =>
  Buffer.concat([
    Buffer.from(
      head(
        'POST',
        path,
        `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${more}`,
      ),
    ),
    Buffer.from(body as string),
  ]);

const login = '/api/admin/login';
const notify = '/api/payment/notify/mock';
const orders = '/api/admin/orders';
const bundle = '/docs/swagger-ui-bundle.js';

const objects = (count: number): string => `[${Array<string>(count).fill('{}').join(',')}]`;
const keys = (count: number): string =>
  `{${Array.from({ length: count }, (_, key) => `"k${key}":{}`).join(',')}}`;
const deep = (levels: number): string => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
const bomb = (bytes: number): Buffer => gzipSync(Buffer.alloc(bytes, ' '));

const owned = ({ authorization }: Target): string => `Authorization: ${authorization}\r\n`;

/** Attacks by name. */
export const attacks: Record<string, Attack> = {
  async 'documentation, pipelined 1,100-fold and never read'(target) {
    const field = new Field(target);
    await field.repeat(6, async () => {
      const socket = field.open(1, { reads: false });
      field.sent += 1100;
      socket.write(head('GET', bundle).repeat(1100));
      await Promise.race([once(socket, 'close'), sleep(1000)]);
    });
    return field.end();
  },

  async 'documentation, read as fast as it comes'(target) {
    const field = new Field(target);
    await field.repeat(20, () => field.ask(head('GET', bundle, 'Connection: close\r\n')));
    return field.end();
  },

  async 'pipelined requests, never read'(target) {
    const field = new Field(target);
    await field.repeat(50, async () => {
      const socket = field.open(1, { reads: false });
      field.sent += 1000;
      socket.write(head('GET', '/api/admin/info').repeat(1000));
      await Promise.race([once(socket, 'close'), sleep(500)]);
      socket.destroy();
    });
    return field.end();
  },

  async 'requests abandoned at once'(target) {
    const field = new Field(target);
    await field.repeat(20, async () => {
      const socket = field.open();
      field.sent++;
      socket.write(head('GET', `${orders}?keyword=x${field.sent}`, owned(target)));
      await sleep(2);
      socket.destroy();
    });
    return field.end();
  },

  async 'gzip bombs: 1 MB in 1 KB'(target) {
    const field = new Field(target);
    const bodies = [
      post(
        orders,
        gzipSync(`{"user_id":1,"details":[${'1,'.repeat(500_000)}1]}`),
        `Content-Encoding: gzip\r\n${owned(target)}`,
      ),
      post(login, bomb(1_048_000), 'Content-Encoding: gzip\r\n'),
      post(notify, bomb(1_048_000), 'Content-Encoding: gzip\r\n'),
    ];
    await field.repeat(20, () => field.ask(bodies[field.sent % bodies.length] as Buffer));
    return field.end();
  },

  async 'gzip bombs kept open: 1,000 connections'(target) {
    const field = new Field(target);
    const request = post(login, bomb(1_048_000), 'Content-Encoding: gzip\r\n').subarray(0, -9);
    for (let index = 0; index < 1000; index++) field.open(4).write(request);
    await sleep(target.seconds * 1000);
    return field.end();
  },

  async 'huge arrays, many keys, deep JSON (signed in)'(target) {
    const field = new Field(target);
    const bodies = [
      post(orders, `{"user_id":1,"details":${objects(60_000)}}`, owned(target)),
      post(orders, `{"user_id":1,"details":${objects(200)}}`, owned(target)),
      post(orders, keys(6000), owned(target)),
      post(orders, deep(30_000), owned(target)),
      post(orders, `{"user_id":1,"details":[${'1,'.repeat(120_000)}1]}`, owned(target)),
    ];
    await field.repeat(8, () => field.ask(bodies[field.sent % bodies.length] as Buffer));
    return field.end();
  },

  async 'huge arrays, many keys, deep JSON (anonymous)'(target) {
    const field = new Field(target);
    const bodies = [
      ...[`{"z":${objects(20_000)}}`, keys(6000), deep(30_000)].map((body) => post(notify, body)),
      ...[`{"username":"a","password":"b","z":${objects(1200)}}`, deep(1900)].map((body) =>
        post(login, body),
      ),
      post(login, `{"z":${objects(300_000)}}`),
    ];
    await field.repeat(8, () => field.ask(bodies[field.sent % bodies.length] as Buffer));
    return field.end();
  },

  async 'slow heads: a byte a second'(target) {
    const field = new Field(target);
    await drip(field, Buffer.from(head('GET', '/healthz', `X: ${'x'.repeat(500)}\r\n`)), 1500);
    return field.end();
  },

  async 'slow bodies: a byte a second'(target) {
    const field = new Field(target);
    const request = post(notify, `{"a":"${'x'.repeat(60_000)}"}`);
    await drip(field, request, 1500, request.indexOf('{'));
    return field.end();
  },

  async '10,000 idle connections from one address'(target) {
    const field = new Field(target);
    await crowd(field, 1);
    return field.end();
  },

  async '10,000 idle connections from 200 addresses'(target) {
    const field = new Field(target);
    await crowd(field, 200);
    return field.end();
  },

  async '10,000 requests at once, each over its own connection'(target) {
    const field = new Field(target);
    const requests = [
      head('GET', orders),
      head('GET', `/${'a/'.repeat(3000)}`),
      post(login, '{"username":1}'),
      post(notify, '{"out_trade_no":1}'),
      'GARBAGE\r\n\r\n',
    ];
    await Promise.all(
      Array.from({ length: most }, async (_, index) => {
        await sleep((index / most) * target.seconds * 900);
        await field.ask(requests[index % requests.length] as string, 200);
      }),
    );
    return field.end();
  },

  async 'event streams of one administrator'(target) {
    const field = new Field(target);
    await field.repeat(20, async () => {
      const socket = field.open(4);
      field.sent++;
      socket.write(head('GET', '/api/admin/dashboard/stream?interval=2', owned(target)));
      await field.answered(socket);
      await sleep(20);
    });
    return field.end('streams');
  },

  async 'sockets of one administrator, ping flood, never read'(target) {
    const field = new Field(target);
    const address = `${target.host}:${target.port}`;
    const open = new Set<WebSocket>();
    await field.repeat(4, async () => {
      const response = await fetch(`http://${address}/api/admin/notifications/ws-ticket`, {
        ...{ method: 'POST', body: '{}' },
        headers: { authorization: target.authorization, 'content-type': 'application/json' },
      });
      const { data } = (await response.json()) as { data: { ticket: string } };
      const socket = new WebSocket(`ws://${address}/ws/admin/notifications?ticket=${data.ticket}`);
      socket.on('error', () => undefined);
      field.sent++;
      await Promise.race([once(socket, 'open'), sleep(1000)]);
      open.add(socket);
      socket.pause();
      for (let ping = 0; ping < 2000; ping++) socket.ping(Buffer.alloc(125));
      socket.send(Buffer.alloc(20_000));
      await sleep(10);
    });
    for (const socket of open) socket.terminate();
    return field.end('sockets');
  },

  async 'sockets without a ticket'(target) {
    const field = new Field(target);
    const upgrade = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${'a'.repeat(22)}==\r\n`;
    await field.repeat(20, () => field.ask(head('GET', '/ws/admin/notifications?ticket=x', upgrade), 4));
    return field.end();
  },

  async 'sign-ins with wrong captchas, and captchas'(target) {
    const field = new Field(target);
    const body = '{"username":"admin","password":"wrong","captcha_id":"x","captcha_code":"y"}';
    await field.repeat(20, () =>
      field.ask(field.sent % 4 ? post(login, body) : head('GET', '/api/admin/login/captcha'), 50),
    );
    return field.end();
  },

  async 'sign-ins with made-up names from one address'(target) {
    const field = new Field(target);
    await field.repeat(40, () =>
      field.ask(post(login, `{"username":"nobody-${field.sent}","password":"wrong"}`)),
    );
    return field.end();
  },

  async 'refused callbacks of 24 KB'(target) {
    const field = new Field(target);
    const body = `{"out_trade_no":"PAY1","x":"${'x'.repeat(24_000)}"}`;
    await field.repeat(8, () => field.ask(post(notify, body)));
    return field.end();
  },
};

// Sends a byte of the request a second over each connection; opens a closed one again.
async function drip(field: Field, request: Buffer, connections: number, at = 10): Promise<void> {
  const slow = new Map<Socket, number>();
  while (field.goesOn) {
    for (let missing = connections - field.sockets.size; missing > 0; missing--) {
      const socket = field.open(4);
      socket.write(request.subarray(0, at));
      slow.set(socket, at);
    }
    await sleep(1000);
    for (const [socket, sent] of slow) {
      if (socket.destroyed) slow.delete(socket);
      else slow.set(socket, sent + Number(socket.write(request.subarray(sent, sent + 1))));
    }
  }
}

async function crowd(field: Field, addresses: number): Promise<void> {
  for (let index = 0; index < most && field.goesOn; index++) {
    field.open(addresses);
    if (index % 200 === 0) await sleep(20);
  }
  await sleep(Math.max(0, field.until - Date.now()));
}
