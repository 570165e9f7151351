// {host}/openapi.json and {host}/docs: the documentation page from the swagger-ui-dist package, without other hosts.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Context, Middleware } from 'koa';
import { encodingFor, type Encoding } from './compression.js';
import { page, script, styles } from './docs-page.js';

interface Asset {
  type: string;
  read: () => Promise<Buffer>;
}

const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

const policy = [
  "default-src 'none'",
  "base-uri 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const packaged = (name: string, type: string): Asset => ({ type, read: () => readFile(join(folder, name)) });

const written = (text: string, type: string): Asset => ({
  type,
  read: () => Promise.resolve(Buffer.from(text)),
});

/** Serves the document, built at the first request, and the page. */
export function docs(document: () => Promise<object>): Middleware {
  const assets = new Map<string, Asset>([
    [
      '/openapi.json',
      {
        type: 'application/json; charset=utf-8',
        read: async () => Buffer.from(JSON.stringify(await document())),
      },
    ],
    ['/docs', written(page, 'text/html; charset=utf-8')],
    ['/docs/page.js', written(script, 'text/javascript; charset=utf-8')],
    ['/docs/page.css', written(styles, 'text/css; charset=utf-8')],
    ['/docs/swagger-ui.css', packaged('swagger-ui.css', 'text/css; charset=utf-8')],
    ['/docs/favicon-32x32.png', packaged('favicon-32x32.png', 'image/png')],
    ['/docs/swagger-ui-bundle.js', packaged('swagger-ui-bundle.js', 'text/javascript; charset=utf-8')],
  ]);
  return async (ctx, next) => {
    const asset =
      ctx.method === 'GET' || ctx.method === 'HEAD' ? assets.get(ctx.path.replace(/\/$/, '')) : undefined;
    if (asset) await send(ctx, asset);
    else await next();
  };
}

interface Held {
  etag: string;
  bodies: Record<Encoding, Buffer>;
}

const held = new Map<Asset, Promise<Held>>();

// Loaded and compressed at the first request, then cached.
function hold(asset: Asset): Promise<Held> {
  const known = held.get(asset);
  if (known) return known;
  const made = prepare(asset);
  held.set(asset, made);
  made.catch(() => held.delete(asset));
  return made;
}

/** Half the time of the highest quality, and hardly larger. */
const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

async function prepare(asset: Asset): Promise<Held> {
  const identity = await asset.read();
  const [br, zipped] = await Promise.all([
    promisify(brotliCompress)(identity, quality),
    promisify(gzip)(identity),
  ]);
  const etag = `"${createHash('sha256').update(identity).digest('base64url').slice(0, 22)}"`;
  return { etag, bodies: { br, gzip: zipped, identity } };
}

async function send(ctx: Context, asset: Asset): Promise<void> {
  const { etag, bodies } = await hold(asset);
  const encoding = encodingFor(ctx);
  ctx.set({
    'Content-Security-Policy': policy,
    // Revalidated each time: 304 while unchanged.
    'Cache-Control': 'no-cache',
    ETag: etag,
    Vary: 'Accept-Encoding',
  });
  ctx.status = 200;
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  if (encoding !== 'identity') ctx.set('Content-Encoding', encoding);
  ctx.type = asset.type;
  ctx.body = bodies[encoding];
}
