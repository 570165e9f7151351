// Sends a request as it is, odd ones included, and takes whatever comes back.
import { Agent, request as begin, type IncomingMessage } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { FuzzRequest } from './requests.js';

export interface FuzzAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
  ms: number;
  /** The reader left a stream after its first event. */
  isStream: boolean;
}

const maxMs = 20_000;
const addresses = 60;
const agents = Array.from(
  { length: addresses },
  (_, index) => new Agent({ keepAlive: true, maxSockets: 4, localAddress: `127.1.0.${index + 1}` }),
);

/** Sends it from one of many addresses, so that limits on one address stay as they are. @throws Error when no answer comes */
export function send(url: string, request: FuzzRequest): Promise<FuzzAnswer> {
  const { method, path, headers, body, index } = request;
  const { hostname, port } = new URL(url);
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const length = body ? { 'Content-Length': String(body.length) } : {};
    const sent = begin({
      ...{ hostname, port, method, path, agent: agents[index % addresses] },
      headers: { ...headers, ...length },
    });
    const timer = setTimeout(() => sent.destroy(new Error(`no answer within ${maxMs} ms`)), maxMs);
    const done = (response: IncomingMessage, content: Buffer, isStream = false): void => {
      clearTimeout(timer);
      const { statusCode = 0, headers } = response;
      resolve({ status: statusCode, headers, body: content, ms: performance.now() - startedAt, isStream });
    };
    sent.on('response', (response) => {
      const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true;
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        if (!isStream) return;
        done(response, Buffer.concat(chunks), true);
        sent.destroy();
      });
      response.on('end', () => done(response, plain(response, Buffer.concat(chunks)), isStream));
      response.on('error', reject);
    });
    sent.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    sent.end(body);
  });
}

// An answer without a body still says how one would be encoded.
function plain({ headers }: IncomingMessage, body: Buffer): Buffer {
  const decode = { br: brotliDecompressSync, gzip: gunzipSync }[headers['content-encoding'] ?? ''];
  return decode && body.length > 0 ? decode(body) : body;
}

/** What no HTTP client would send. */
export const malformed = [
  'GARBAGE\r\n\r\n',
  'GET /healthz\r\n\r\n',
  'GET /healthz HTTP/9.9\r\nHost: a\r\n\r\n',
  'GET  /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  'GET /healthz HTTP/1.1\r\n\r\n',
  'GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n',
  'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n folded: x\r\n\r\n',
  'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n',
  'NOSUCH /healthz HTTP/1.1\r\nHost: a\r\n\r\n',
  'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
  'CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: a\r\n\r\n',
  'CONNECT /healthz HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET a://b HTTP/1.1\r\nHost: a\r\n\r\n',
  'POST x://y?timezone=x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}',
  'HEAD http:// HTTP/1.1\r\nHost: a\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  'POST /api/admin/login HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'POST /api/admin/login HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}x',
  'POST /api/admin/login HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n',
  'GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\nConnection: close\r\n\r\n',
  `GET /healthz HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
  `GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${'X: y\r\n'.repeat(3000)}\r\n`,
  'GET /ws/admin/notifications?ticket=x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  'GET //[ HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n',
];

/** Closes what is still open. */
export function hangUp(): void {
  for (const agent of agents) agent.destroy();
}
