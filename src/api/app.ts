// The Koa application: envelope, CORS, then every declared route behind its guard.
import { rm } from 'node:fs/promises';
import cors from '@koa/cors';
import { Router } from '@koa/router';
import type Joi from 'joi';
import Koa, { type Middleware } from 'koa';
import { config } from '../../config/index.js';
import { isCommitting, setDeadline } from '../lib/process/context.js';
import { AppError, fail } from '../lib/errors/app-error.js';
import { withTimeout } from '../lib/process/timers.js';
import { parametersOf, type NamedValues } from '../lib/input/body-fields.js';
import { coercer, validate } from '../lib/input/validation.js';
import { webConsole } from './http/console.js';
import { docs } from './http/docs.js';
import { bodyParser, withAliases } from './http/middleware/body.js';
import { assertKnownZone, envelope } from './http/middleware/envelope.js';
import { admit } from './http/middleware/guard.js';
import { limit, limitWork } from './http/middleware/limits.js';
import { openApiDocument } from './declare/openapi.js';
import { guardRoutes } from './declare/permission.js';
import type { FieldChange } from '../models/logs/tables.js';
import type { Context, RequestState } from './declare/request-state.js';
import { fullPath, PlainAnswer, type Access, type Call, type Route } from './declare/route.js';
import { routes } from './routes.js';
import { isLogged, nameOperations } from './declare/operation-log.js';
import { handleAsUnit } from './declare/write-unit.js';

/** The application, for an HTTP server. */
export function createApp(): Koa<RequestState> {
  guardRoutes(routes);
  nameOperations(routes);
  const app = new Koa<RequestState>();
  app.silent = true;
  readQueriesOnce(app);
  app.use(envelope);
  app.use(refuseOddTargets);
  if (config.app.corsOrigins.length > 0) app.use(crossOrigin());
  if (config.app.consoleEnabled) app.use(webConsole());
  if (config.app.docsEnabled) app.use(docs(() => openApiDocument(routes)));
  const router = new Router();
  for (const route of routes)
    router.register(fullPath(route).replace(/\{(\w+)\}/g, ':$1'), [route.method], handlerOf(route) as never);
  app.use(router.routes() as never);
  // A path that leads nowhere counts, too.
  app.use((ctx) => limit('address', ctx));
  return app;
}

/** The deadline of the answer, even if a dependency hangs. */
const maxAnswerMs = 9500;
/** A COMMIT under way at the deadline has its outcome awaited in such steps. */
const commitCheckMs = 100;

// The order of the checks: an unauthorised caller causes no work.
function handlerOf(route: Route): (ctx: Context) => Promise<void> {
  const parseBody = bodyParser(route);
  const readParams = readerOf(route.params);
  const readQuery = readerOf(route.query);
  const answer = async (ctx: Context, deadline: number): Promise<void> => {
    const { state } = ctx;
    state.route = route;
    if (!route.unlimited) await limit('address', ctx);
    const identity = await admit(route, ctx);
    await limitWork(route, ctx);
    // Only answers of the administration have times; a callback is never refused for one.
    if (!route.host) assertKnownZone(ctx);
    assertConnected(ctx);
    const { body, raw = '', upload } = parseBody ? await parseBody(ctx) : {};
    try {
      if (ctx.method !== 'GET') state.input = { query: ctx.query, body };
      const call: Call<Access, object, object, object> = {
        params: readParams(ctx.params as Record<string, string>),
        query: readQuery(ctx.query),
        body: route.body ? validate(route.body, withAliases(body, route.aliases)) : {},
        raw,
        admin: identity,
        ip: state.ip,
        userAgent: ctx.get('User-Agent') || undefined,
        deadline,
        upload,
      };
      state.taken = { query: call.query, body: call.body };
      const data = await (isLogged(state) ? handleAsUnit(route, call, ctx) : route.handle(call, ctx));
      const { before, after } = state;
      if (before && after) state.changes = changesBetween(before, after);
      if (data instanceof PlainAnswer) sendPlainly(ctx, data);
      else if (route.reply === undefined) state.data = data;
    } finally {
      // Unless the storage has taken it.
      if (upload) await rm(upload.path, { force: true });
    }
  };
  const deadlineMs = route.deadlineMs ?? (route.upload || route.reply ? Infinity : maxAnswerMs);
  if (deadlineMs === Infinity) return (ctx) => answer(ctx, Infinity);
  return (ctx) => {
    const begun = performance.now();
    // What commits is answered: the rest of the time is for the answer.
    setDeadline(begun + 0.8 * deadlineMs);
    return withTimeout(answer(ctx, begun + deadlineMs), deadlineMs, function expire(resolve, reject) {
      if (isCommitting()) return void setTimeout(expire, commitCheckMs, resolve, reject);
      const cause = new Error(`no answer within the ${deadlineMs} ms of the route`);
      // A body still arriving is slow because of its client.
      reject(new AppError(ctx.req.complete ? 'database_unavailable' : 'request_timeout', { cause }));
    });
  };
}

/** Reads parameters as their schema says; without a schema there are none. */
function readerOf(schema: Joi.ObjectSchema<object> | undefined): (given: Record<string, unknown>) => object {
  if (!schema) return () => ({});
  const coerce = coercer(schema);
  return (given) => validate(schema, coerce(given));
}

function sendPlainly(ctx: Context, { status, text }: PlainAnswer): void {
  ctx.status = status;
  if (status === 204) return;
  ctx.type = 'text/plain; charset=utf-8';
  ctx.body = text;
}

// A client that has disconnected needs no answer.
function assertConnected(ctx: Context): void {
  if (ctx.req.destroyed || ctx.res.closed) fail('client_gone');
}

// Compares records as answered, without their own timestamps and what follows from other records.
function changesBetween(before: object, after: object): FieldChange[] {
  const [old, fresh] = [asAnswered(before), asAnswered(after)];
  return Object.keys(old)
    .filter((field) => !/^(id|created_at|updated_at|cancelled_at|in_use|last_login_at)$/.test(field))
    .map((field) => ({ field, old: old[field] ?? null, new: fresh[field] ?? null }))
    .filter((change) => JSON.stringify(change.old) !== JSON.stringify(change.new));
}

const asAnswered = (record: object): Fields => JSON.parse(JSON.stringify(record)) as Fields;

type Fields = Record<string, unknown>;

function crossOrigin(): Koa.Middleware {
  const allowed = new Set(config.app.corsOrigins);
  return cors({
    origin: (ctx) => (allowed.has(ctx.get('Origin')) ? ctx.get('Origin') : ''),
    allowMethods: ['GET', 'POST', 'PUT', 'DELETE'],
    allowHeaders: [
      'Authorization',
      'Content-Type',
      'Accept-Language',
      'X-Timezone',
      'Timezone',
      'X-Trace-Id',
      'Idempotency-Key',
      'If-None-Match',
      'If-Range',
      'Range',
      'X-Requested-With',
      // Unused here, but a client that always sends them must not fail its preflight.
      'X-Tenant-Code',
      'X-Request-Id',
    ],
    exposeHeaders: [
      'X-Trace-Id',
      'Retry-After',
      'RateLimit',
      'RateLimit-Policy',
      'Content-Disposition',
      'Content-Range',
      'Accept-Ranges',
      'ETag',
    ],
    maxAge: 600,
  });
}

/** A path, or the `*` of OPTIONS. Koa answers null for a target that has none. */
const target = /^(\/|\*$)/;

// Requests without a path, such as `GET a://b` and CONNECT, count for their address like any other.
const refuseOddTargets: Middleware<RequestState> = async (ctx, next) => {
  if (!target.test(ctx.path) || ctx.method === 'CONNECT') {
    ctx.set('Connection', 'close');
    await limit('address', ctx);
    fail('bad_request');
  }
  await next();
};

/**
 * Replaces `ctx.query` with a parser of linear time. Koa's scans all parameters again for each one: over a second for
 * the 8,000 that fit into a request, before authentication.
 */
function readQueriesOnce(app: Koa): void {
  Object.defineProperty(app.request, 'query', {
    get(this: Koa.Request & { read?: NamedValues }) {
      return (this.read ??= parametersOf(this.querystring));
    },
  });
}
