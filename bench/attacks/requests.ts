// Requests as a hostile client writes them, byte by byte.
import { gzipSync } from 'node:zlib';

export const login = '/api/admin/login';
export const notify = '/api/payment/notify/mock';
export const orders = '/api/admin/orders';
export const bundle = '/docs/swagger-ui-bundle.js';

export const head = (method: string, path: string, more = ''): string =>
  `${method} ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;

/** A JSON request. */
export function post(path: string, body: string | Buffer, more = ''): Buffer {
  const length = `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  const start = head('POST', path, `Content-Type: application/json\r\n${length}${more}`);
  return Buffer.concat([Buffer.from(start), Buffer.from(body as string)]);
}

/** A JSON request whose body is compressed. */
export const zipped = (path: string, body: string, more = ''): Buffer =>
  post(path, gzipSync(body), `Content-Encoding: gzip\r\n${more}`);

export const array = (item: string, count: number): string =>
  `[${Array<string>(count).fill(item).join(',')}]`;
export const keys = (count: number): string =>
  `{${Array.from({ length: count }, (_, key) => `"k${key}":{}`).join(',')}}`;
export const deep = (levels: number): string => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
