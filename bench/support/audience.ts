// Many administrators with open sockets or streams on one API process, for bench:realtime.
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { call } from './session.js';

export type Headers = Record<string, string>;

/** Creates and signs in that many administrators. */
export async function signInMany(url: string, boss: Headers, count: number): Promise<Headers[]> {
  const password = 'bench-Password-2';
  return inTurns(count, async (index) => {
    const username = `audience-${index}`;
    await call(`${url}/api/admin/admins`, boss, { username, password, nickname: username });
    const { token } = await call<{ token: string }>(`${url}/api/admin/login`, {}, { username, password });
    return { authorization: `Bearer ${token}` };
  });
}

/** Opens `each` sockets for every administrator, each with a ticket of its own. */
export async function openSockets(url: string, admins: Headers[], each: number): Promise<WebSocket[]> {
  return inTurns(admins.length * each, async (index) => {
    const { ticket } = await call<{ ticket: string }>(
      `${url}/api/admin/notifications/ws-ticket`,
      admins[index % admins.length],
      {},
    );
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws/admin/notifications?ticket=${ticket}`, {
      perMessageDeflate: false,
    });
    await once(socket, 'open');
    return socket;
  });
}

/** Opens that many event streams and reads them to nowhere. @returns how to close them */
export async function openStreams(url: string, headers: Headers, count: number): Promise<() => void> {
  const abort = new AbortController();
  await inTurns(count, async () => {
    const response = await fetch(url, { headers, signal: abort.signal });
    void drain(response).catch(() => undefined);
  });
  return () => abort.abort();
}

async function drain(response: Response): Promise<void> {
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) void chunk.length;
}

// A few at a time: what is set up here is not what is measured.
async function inTurns<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  let next = 0;
  const turn = async (): Promise<void> => {
    while (next < count) {
      const index = next++;
      made[index] = await make(index);
    }
  };
  await Promise.all(Array.from({ length: 16 }, turn));
  return made;
}
