// Compresses long answers; short ones are sent as they are.
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Context } from 'koa';

/** Min UTF-16 units to compress: a list of a hundred orders has 45,000. */
const leastLength = 16_000;

// 0.2 ms for 45 kB on another thread, down to 3.5 kB.
const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const compressors = {
  br: (text: string | Buffer) => promisify(brotliCompress)(text, quality),
  gzip: (text: string | Buffer) => promisify(gzip)(text, { level: 4 }),
};

export type Encoding = 'br' | 'gzip' | 'identity';

/**
 * The best of these encodings the client accepts. Browsers name gzip before br without weights, so the header's
 * order means nothing.
 */
export function encodingFor(ctx: Context, offered: readonly Encoding[] = ['br', 'gzip']): Encoding {
  const best = (['br', 'gzip'] as const).filter((one) => offered.includes(one));
  return best.find((one) => ctx.acceptsEncodings(one, 'identity') === one) ?? 'identity';
}

/** Whether an answer is long enough to compress. */
export const isLong = (text: string): boolean => text.length >= leastLength;

/** A long text in an encoding the client accepts, with its headers. */
export async function compressed(ctx: Context, text: string | Buffer): Promise<Buffer | string> {
  ctx.vary('Accept-Encoding');
  const encoding = encodingFor(ctx);
  if (encoding === 'identity') return text;
  ctx.set('Content-Encoding', encoding);
  return compressors[encoding](text);
}
