// Compresses long JSON answers; a list of ten, a record or a refusal goes as it is and costs nothing.
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Context } from 'koa';

/** UTF-16 units from which on an answer is compressed: a list of a hundred orders has 45,000. */
const leastLength = 16_000;

// 0.2 ms for 45 kB, on a thread of its own; 3.5 kB are left.
const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const compressors = {
  br: (text: string) => promisify(brotliCompress)(text, quality),
  gzip: (text: string) => promisify(gzip)(text, { level: 4 }),
};

export type Encoding = 'br' | 'gzip' | 'identity';

/**
 * The best of these encodings that the client takes. Browsers name gzip before br and weigh none, so the order of the header
 * says nothing.
 */
export function encodingFor(ctx: Context, offered: readonly Encoding[] = ['br', 'gzip']): Encoding {
  const best = (['br', 'gzip'] as const).filter((one) => offered.includes(one));
  return best.find((one) => ctx.acceptsEncodings(one, 'identity') === one) ?? 'identity';
}

/** Whether an answer is worth compressing. */
export const isLong = (text: string): boolean => text.length >= leastLength;

/** A long text as the client takes it, with the headers that say so. */
export async function compressed(ctx: Context, text: string): Promise<Buffer | string> {
  ctx.vary('Accept-Encoding');
  const encoding = encodingFor(ctx);
  if (encoding === 'identity') return text;
  ctx.set('Content-Encoding', encoding);
  return compressors[encoding](text);
}
