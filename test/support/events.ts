// A reader of server-sent events.
import type { Client } from './client.js';
import { until } from './until.js';

type Fields = Record<string, unknown>;

/** What a stream or a socket pushes. */
export interface Pushed<T = Fields | null> {
  type: string;
  data: T;
  timestamp: string;
}

interface TestStream {
  status: number;
  events: Pushed[];
  /** Resolves when the server ends the stream. */
  ended: Promise<void>;
  /** The first event of that type, whose data has that shape. */
  event<T = Fields | null>(type: string): Promise<Pushed<T>>;
  close(): void;
}

/** Opens a stream below /api/admin. */
export async function openStream(client: Client, path: string): Promise<TestStream> {
  const abort = new AbortController();
  const response = await fetch(`${client.url}/api/admin${path}`, {
    headers: client.headers,
    signal: abort.signal,
  });
  const events: TestStream['events'] = [];
  const ended = read(response, events).catch(() => undefined);
  return {
    status: response.status,
    events,
    ended,
    event: <T>(type: string) =>
      until(() => events.find((event) => event.type === type) as Pushed<T> | undefined),
    close: () => abort.abort(),
  };
}

async function read(response: Response, events: TestStream['events']): Promise<void> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    const parts = text.split('\n\n');
    text = parts.pop() as string;
    for (const part of parts) if (part.startsWith('data: ')) events.push(JSON.parse(part.slice(6)) as Pushed);
  }
}
