// {host}/openapi.json and {host}/docs: the documentation page, served from the swagger-ui-dist package, no other host.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Middleware } from 'koa';

interface Asset {
  type: string;
  read: () => string | Buffer;
}

const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "frame-ancestors 'none'",
].join('; ');

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Back-office API</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="icon" href="/docs/favicon-32x32.png">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

// The page keeps the token in the browser, so that a reload stays signed in.
const startScript = `window.ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  persistAuthorization: true,
  validatorUrl: null,
});
`;

const packaged = (name: string, type: string): Asset => ({
  type,
  read: () => readFileSync(join(folder, name)),
});

const assets = new Map<string, Asset>([
  ['/docs', { type: 'text/html; charset=utf-8', read: () => page }],
  ['/docs/start.js', { type: 'text/javascript; charset=utf-8', read: () => startScript }],
  ['/docs/swagger-ui.css', packaged('swagger-ui.css', 'text/css; charset=utf-8')],
  ['/docs/favicon-32x32.png', packaged('favicon-32x32.png', 'image/png')],
  ['/docs/swagger-ui-bundle.js', packaged('swagger-ui-bundle.js', 'text/javascript; charset=utf-8')],
]);

/** Serves the document and the page. */
export function docs(document: object): Middleware {
  const json = JSON.stringify(document);
  assets.set('/openapi.json', { type: 'application/json; charset=utf-8', read: () => json });
  return async (ctx, next) => {
    const asset = ctx.method === 'GET' ? assets.get(ctx.path.replace(/\/$/, '')) : undefined;
    if (!asset) {
      await next();
      return;
    }
    ctx.set('Content-Security-Policy', policy);
    ctx.status = 200;
    ctx.type = asset.type;
    ctx.body = asset.read();
  };
}
