// Sends a file as a download or inline, whole or one range (RFC 9110, 14).
import type { Readable } from 'node:stream';
import type { Context } from 'koa';
import { config } from '../../../config/index.js';
import type { ErrorSlug } from '../../lib/errors/catalogue.js';
import { AppError } from '../../lib/errors/app-error.js';
import { storage } from '../../lib/storage/index.js';
import { FileMissing, whole, type ByteRange } from '../../lib/storage/storage.js';

interface StoredContent extends Omit<SentFile, 'open'> {
  /** Storage key. */
  key: string;
  /** The error when the file is missing. */
  missing: ErrorSlug;
}

/**
 * Sends a file of the storage, or redirects to it (S3_PRESIGNED_DOWNLOADS).
 *
 * @throws range_not_satisfiable, the slug of `missing`
 */
export async function sendStored(ctx: Context, { key, missing, ...file }: StoredContent): Promise<void> {
  const driver = await storage();
  // The address is signed for GET: a store would refuse a HEAD that follows the redirect.
  if (driver.downloadUrl && ctx.method !== 'HEAD')
    return ctx.redirect(await driver.downloadUrl(key, disposition(file), file.type));
  const open = async (range?: ByteRange): Promise<Readable> => {
    try {
      return await driver.get(key, range);
    } catch (error) {
      throw error instanceof FileMissing ? new AppError(missing, { cause: error }) : error;
    }
  };
  await sendFile(ctx, { ...file, open });
}

interface SentFile {
  /** Download name. */
  filename: string;
  type: string;
  /** Bytes, if known; required for ranges. */
  size?: number;
  /** Identifies the content, for If-Range. */
  etag?: string;
  /** Shown inline instead of saved. */
  inline?: boolean;
  open(range?: ByteRange): Promise<Readable>;
}

// The file must not run or load anything with the rights of this site.
const filePolicy =
  "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'; sandbox";

/** Sends the content. @throws range_not_satisfiable */
export async function sendFile(ctx: Context, file: SentFile): Promise<void> {
  if (file.etag) ctx.set('ETag', `"${file.etag}"`);
  ctx.status = 200;
  // Inline pictures are revalidated each time, with 304 while unchanged.
  if (file.inline) ctx.set('Cache-Control', 'private, no-cache');
  if (file.etag && ctx.fresh) {
    ctx.status = 304;
    return;
  }
  const range = file.size === undefined ? undefined : askedRange(ctx, file.size, file.etag);
  const content = await file.open(range);
  ctx.set('Content-Disposition', disposition(file));
  ctx.set('Content-Security-Policy', filePolicy);
  // Pages of other origins may embed what their administrator may read.
  if (config.app.corsOrigins.length > 0) ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
  const length = range ? range.end - range.start + 1 : file.size;
  if (length !== undefined) {
    ctx.set('Accept-Ranges', 'bytes');
    ctx.length = length;
  }
  if (range) ctx.set('Content-Range', `bytes ${range.start}-${range.end}/${file.size}`);
  ctx.status = range ? 206 : 200;
  ctx.type = file.type;
  ctx.body = length === undefined ? content : whole(content, length);
}

// Several ranges, another unit or an invalid range get the whole file, and HEAD has no ranges (RFC 9110, 14.2).
function askedRange(ctx: Context, size: number, etag: string | undefined): ByteRange | undefined {
  if (ctx.method !== 'GET') return undefined;
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(ctx.get('Range').trim());
  const condition = ctx.get('If-Range');
  if (!match || (condition !== '' && condition !== `"${etag}"`)) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined;
  if (start >= size || (first === '' && Number(last) === 0)) {
    ctx.set('Content-Range', `bytes */${size}`);
    throw new AppError('range_not_satisfiable');
  }
  return { start, end };
}

/** Content-Disposition (RFC 6266): an ASCII name for old clients, the real one in UTF-8. */
function disposition({ filename, inline }: Pick<SentFile, 'filename' | 'inline'>): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%;]/g, '_');
  const encoded = encodeURIComponent(Buffer.from(filename).toString()).replace(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${inline ? 'inline' : 'attachment'}; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
