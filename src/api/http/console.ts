// {host}/console/: the web console, built by npm run build and served from memory; {host}/ redirects to it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Context, Middleware } from 'koa';
import { randomToken } from '../../lib/secrets/random-id.js';
import { storage } from '../../lib/storage/index.js';
import { encodingFor, type Encoding } from './compression.js';

interface Asset {
  type: string;
  bodies: Partial<Record<Encoding, Buffer>>;
}

/** build/console/, beside the compiled service. */
const folder = fileURLToPath(new URL('../../../console/', import.meta.url));

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const suffixes: Record<Encoding, string> = { br: '.br', gzip: '.gz', identity: '' };

/** Serves the page for all its paths, and its files. */
export function webConsole(): Middleware {
  const assets = readAssets();
  const page = existsSync(join(folder, 'index.html'))
    ? readFileSync(join(folder, 'index.html'), 'utf8')
    : undefined;
  return async (ctx: Context, next: () => Promise<unknown>): Promise<unknown> => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next();
    if (page === undefined) return next();
    if (ctx.path === '/' || ctx.path === '/console') return ctx.redirect('/console/');
    if (!ctx.path.startsWith('/console/')) return next();
    const asset = assets.get(ctx.path.slice('/console/'.length));
    if (asset) return sendAsset(ctx, asset);
    // A missing file is a 404: an old page must notice that its build is gone.
    if (ctx.path.startsWith('/console/assets/')) return next();
    return sendPage(ctx, page);
  };
}

// Loaded once: a request can only name built files.
function readAssets(): ReadonlyMap<string, Asset> {
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return new Map(
    names.flatMap((name): [string, Asset][] => {
      const type = types[extname(name)];
      return type ? [[name, { type, bodies: readBodies(join(folder, name)) }]] : [];
    }),
  );
}

function readBodies(file: string): Asset['bodies'] {
  const encodings = (Object.keys(suffixes) as Encoding[]).filter((one) => existsSync(file + suffixes[one]));
  return Object.fromEntries(encodings.map((one) => [one, readFileSync(file + suffixes[one])]));
}

function sendAsset(ctx: Context, { type, bodies }: Asset): void {
  const encoding = encodingFor(ctx, Object.keys(bodies) as Encoding[]);
  ctx.set({
    // Their names contain a content hash, except for the icon.
    'Cache-Control': ctx.path.startsWith('/console/assets/')
      ? 'public, max-age=31536000, immutable'
      : 'no-cache',
    Vary: 'Accept-Encoding',
  });
  if (encoding !== 'identity') ctx.set('Content-Encoding', encoding);
  ctx.status = 200;
  ctx.type = type;
  ctx.body = bodies[encoding];
}

// The component library writes styles into the page; each answer has its own nonce for them.
async function sendPage(ctx: Context, page: string): Promise<void> {
  const nonce = randomToken(18);
  ctx.set({ 'Content-Security-Policy': policyWith(nonce, await storeOrigin()), 'Cache-Control': 'no-store' });
  ctx.status = 200;
  ctx.type = 'text/html; charset=utf-8';
  ctx.body = page.replaceAll('NONCE', nonce);
}

// Downloads may come from the object store. Its driver knows the host: the name of the bucket may be part of it.
async function storeOrigin(): Promise<string> {
  const address = await (await storage()).downloadUrl?.('any', 'inline', 'text/plain');
  return address ? ` ${new URL(address).origin}` : '';
}

const policyWith = (nonce: string, store: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src-elem 'self' 'nonce-${nonce}'`,
    "style-src-attr 'none'",
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "frame-src 'self' blob:",
    "font-src 'self'",
    "worker-src 'self'",
    `connect-src 'self'${store}`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
