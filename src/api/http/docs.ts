// {host}/openapi.json and {host}/docs: the documentation page from the swagger-ui-dist package, without other hosts.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import type { Middleware } from 'koa';
import type { RequestState } from '../declare/request-state.js';
import { compressed } from './compression.js';
import { limit } from './middleware/limits.js';

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

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Back-office API</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="stylesheet" href="/docs/page.css">
    <link rel="icon" href="/docs/favicon-32x32.png">
  </head>
  <body>
    <main id="swagger-ui"></main>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/page.js"></script>
  </body>
</html>
`;

const styles = `body { margin: 0; }
/* There is one server. */
.swagger-ui .scheme-container .schemes > .schemes-server-container { display: none; }
@media (max-width: 640px) {
  .swagger-ui .wrapper { padding: 0 12px; }
  .swagger-ui .opblock-summary-path, .swagger-ui .opblock-description-wrapper { overflow-wrap: anywhere; }
  .swagger-ui .opblock-tag { flex-wrap: wrap; }
  .swagger-ui .markdown pre, .swagger-ui table { display: block; max-width: 100%; overflow-x: auto; }
}
`;

const script = `'use strict';
// The filter of the package knows only the names of the groups.
const textOf = (tag, one) =>
  [tag, one.get('method'), one.get('path'), one.getIn(['operation', 'summary'])].join(' ').toLowerCase();
const opsFilter = (groups, phrase) =>
  groups
    .map((group, tag) =>
      group.update('operations', (all) => all.filter((one) => textOf(tag, one).includes(phrase.toLowerCase()))))
    .filter((group) => group.get('operations').size > 0);

SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  persistAuthorization: true,
  validatorUrl: null,
  plugins: [() => ({ fn: { opsFilter } })],
  // Requests go to the host of the page, by whatever name it was opened.
  requestInterceptor(request) {
    const { pathname, search } = new URL(request.url, location.href);
    request.url = location.origin + pathname + search;
    return request;
  },
});
`;

const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const packaged = (name: string): [string, Buffer] => [`/docs/${name}`, readFileSync(join(folder, name))];

/** Serves the document, made at the first request, and the page. */
export function docs(document: () => Promise<object>): Middleware<RequestState> {
  const assets = new Map<string, string | Buffer>([
    ['/docs', page],
    ['/docs/page.js', script],
    ['/docs/page.css', styles],
    ...['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'].map(packaged),
  ]);
  let json: Promise<string> | undefined;
  return async (ctx, next: () => Promise<unknown>) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next();
    const path = ctx.path.replace(/\/$/, '');
    if (path === '/openapi.json') json ??= document().then((made) => JSON.stringify(made));
    const content = path === '/openapi.json' ? await json : assets.get(path);
    if (content === undefined) return next();
    await limit('address', ctx);
    ctx.set({ 'Content-Security-Policy': policy, 'Cache-Control': 'no-cache' });
    ctx.type = extname(path) || '.html';
    ctx.body = await compressed(ctx, content);
  };
}
