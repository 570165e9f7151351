// A WebSocket client of the notifications socket.
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Client } from './client.js';
import type { Pushed } from './events.js';
import { until } from './until.js';

/** Data of a `notification` frame. */
export interface Notice {
  id: number;
  type: string;
  title: string;
  content: string;
  is_read: boolean;
}

interface TestSocket {
  socket: WebSocket;
  /** All but those about changes. */
  frames: Pushed[];
  /** The scopes that each frame about changes has named. */
  changes: string[][];
  /** Close code, once it is closed. */
  closed: Promise<number>;
  /** The first frame of that type, whose data has that shape. */
  frame<T = Notice>(type: string): Promise<Pushed<T>>;
}

/** A fresh one-time ticket of that caller. On a crowded machine Redis may miss its 200 ms once: then it asks again. */
export async function ticketOf(client: Client): Promise<string> {
  return until(async () => {
    const { status, data, text } = await client.post('/notifications/ws-ticket');
    if (status !== 200 && status !== 503) throw new Error(text);
    return data?.ticket as string | undefined;
  });
}

/** Opens a socket with that ticket; resolves when it is open. @throws Error with the HTTP status when it is refused */
export async function openSocket(
  url: string,
  ticket: string,
  headers: Record<string, string> = {},
): Promise<TestSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws/admin/notifications?ticket=${ticket}`, {
    headers,
  });
  const frames: Pushed[] = [];
  const changes: string[][] = [];
  socket.on('message', (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as Pushed<{ scopes: string[] }>;
    if (frame.type === 'changed') changes.push(frame.data.scopes);
    else frames.push(frame);
  });
  const refused = new Promise<never>((_, reject) => {
    socket.on('unexpected-response', (_request, response) =>
      reject(new Error(String(response.statusCode), { cause: response.headers })),
    );
    socket.on('error', reject);
  });
  const closed = once(socket, 'close').then(([code]) => code as number);
  closed.catch(() => undefined);
  await Promise.race([once(socket, 'open'), refused]);
  return {
    socket,
    frames,
    changes,
    closed,
    frame: <T>(type: string) =>
      until(() => frames.find((frame) => frame.type === type) as Pushed<T> | undefined, 60_000),
  };
}
