// The outermost middleware: gives each request its trace id, language and zone, and each answer its envelope, headers
// and log line.
import { SpanKind, type Span } from '@opentelemetry/api';
import type { Middleware, Next } from 'koa';
import {
  currentSpan,
  currentZone,
  inContext,
  type Context as RunContext,
} from '../../../lib/process/context.js';
import { DatabaseBusy, isDatabaseDown } from '../../../lib/database/errors.js';
import { AppError, fail } from '../../../lib/errors/app-error.js';
import { refuseField } from '../../../lib/input/validation.js';
import { clientIp } from '../../../lib/values/ip.js';
import { toJson } from '../../../lib/values/json.js';
import { languageOf, type Language } from '../../../lib/values/language.js';
import { logger } from '../../../lib/watch/logger.js';
import { QueueUnavailable } from '../../../lib/queue/queue.js';
import { newUlid } from '../../../lib/secrets/random-id.js';
import { isRedisDown } from '../../../lib/redis/redis.js';
import { StorageUnavailable } from '../../../lib/storage/storage.js';
import { isZone, withZone } from '../../../lib/values/time.js';
import { requests, requestSeconds } from '../../../lib/watch/metrics.js';
import { failSpan, isTracing, spanNamed, startSpan } from '../../../lib/watch/tracing.js';
import { logOperation } from '../../declare/operation-log.js';
import { fullPath } from '../../declare/route.js';
import type { Context, RequestState } from '../../declare/request-state.js';
import { compressed, isLong } from '../compression.js';

// Fixed headers of a JSON API (OWASP REST security); the documentation page sets its own policy.
export const securityHeaders = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

const fixedHeaders = Object.entries(securityHeaders);

const foreignTraceId = /^[A-Za-z0-9_-]{8,64}$/;
const slowMs = 1000;
/** Value of Retry-After in 503 answers. */
const retrySeconds = 2;

/** The trace id of a request: its own if well-formed, or a new one. */
export const traceIdOf = (given = ''): string => (foreignTraceId.test(given) ? given : newUlid());

/** Runs the request and answers it; every error becomes an answer. */
export const envelope: Middleware<RequestState> = async (ctx, next) => {
  const started = performance.now();
  const traceId = traceIdOf(ctx.get('X-Trace-Id'));
  const language = languageOf(askedLanguage(ctx));
  const zone = askedZone(ctx);
  const ip = clientIp(ctx.req);
  const span = beginRequestSpan(ctx, traceId);
  const context: RunContext = {
    traceId,
    language,
    zone: zone !== undefined && isZone(zone) ? zone : undefined,
    ip,
    span,
  };
  ctx.state.traceId = traceId;
  ctx.state.ip = ip;
  for (const [name, value] of fixedHeaders) ctx.res.setHeader(name, value);
  ctx.res.setHeader('X-Trace-Id', traceId);
  await inContext(context, async () => {
    try {
      await answer(ctx, next, language, context.zone);
    } catch (error) {
      refuse(ctx, error, language);
    }
    const durationMs = performance.now() - started;
    void logOperation(ctx, durationMs);
    logAccess(ctx, durationMs);
    // Detached work, such as an event stream, is not part of it.
    context.span = undefined;
    endRequestSpan(span, ctx);
  });
};

/**
 * Comes after the guard and the limits: a refused request counts and is logged, too.
 *
 * @throws validation_failed when zone or language is given twice, timezone_invalid
 */
export function assertKnownZone(ctx: Context): void {
  for (const name of ['timezone', 'language'])
    if (Array.isArray(ctx.query[name])) refuseField('validation_failed', name, 'query.repeated');
  if (askedZone(ctx) !== currentZone()) fail('timezone_invalid', { field: 'timezone' });
}

async function answer(ctx: Context, next: Next, language: Language, zone: string | undefined): Promise<void> {
  await next();
  const { state } = ctx;
  if (!('data' in state)) {
    // An answer without a body has its own status, such as 204 for a preflight.
    if (ctx.respond !== false && !ctx.body && ctx.status === 404) fail('route_not_found');
    return;
  }
  const data = zone === undefined ? state.data : withZone(state.data, zone);
  const message = language === 'en-US' ? 'success' : '操作成功';
  send(ctx, 200, { code: 200, message, data: data ?? null, trace_id: state.traceId });
  if (typeof ctx.body === 'string' && isLong(ctx.body)) ctx.body = await compressed(ctx, ctx.body);
}

function refuse(ctx: Context, error: unknown, language: Language): void {
  const outcome = hasGone(ctx) ? new AppError('client_gone', { cause: error }) : outcomeOf(error);
  // 501 marks a deliberately unimplemented operation, so it is not logged as an error.
  if (outcome.status >= 500 && outcome.status !== 501)
    logger.error({ error, error_code: outcome.slug, path: ctx.path }, 'a request failed');
  currentSpan()?.setAttribute('back_office.error_code', outcome.slug);
  ctx.set(retryAfterOf(outcome));
  send(ctx, outcome.status, refusalOf(outcome, language, ctx.state.traceId));
}

/** The header Retry-After of an answer that has one. */
export function retryAfterOf({ details, status }: AppError): Record<string, string> {
  const seconds = details.retryAfter ?? (status === 503 ? retrySeconds : undefined);
  return seconds === undefined ? {} : { 'Retry-After': String(seconds) };
}

/** The envelope of a refusal. */
export const refusalOf = (outcome: AppError, language: Language, traceId: string | undefined) => ({
  code: outcome.code,
  message: outcome.text(language),
  data: null,
  error_code: outcome.slug,
  errors: outcome.fieldTexts(language),
  trace_id: traceId,
});

// An aborted request is not a server error.
const hasGone = ({ req, res }: Context): boolean => res.closed || (req.destroyed && !req.complete);

function send(ctx: Context, status: number, content: unknown): void {
  ctx.status = status;
  ctx.type = 'application/json; charset=utf-8';
  // The rest of a refused body is read and dropped: a client that is sending would otherwise never see the answer.
  if (!ctx.req.complete) ctx.req.resume();
  ctx.body = toJson(content);
}

/** What the caller is answered about an error. */
export function outcomeOf(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof DatabaseBusy) return new AppError('database_busy', { cause: error });
  if (isDatabaseDown(error)) return new AppError('database_unavailable', { cause: error });
  if (error instanceof QueueUnavailable) return new AppError('queue_unavailable', { cause: error });
  if (error instanceof StorageUnavailable) return new AppError('storage_unavailable', { cause: error });
  if (isRedisDown(error)) return new AppError('cache_unavailable', { cause: error });
  const status = (error as { status?: number } | undefined)?.status;
  if (status === 413) return new AppError('payload_too_large');
  if (error instanceof URIError || (status !== undefined && status >= 400 && status < 500)) {
    return new AppError('bad_request', { cause: error });
  }
  return new AppError('internal_error', { cause: error });
}

// An EventSource cannot choose its headers.
function askedLanguage(ctx: Context): string {
  const fromQuery = ctx.search === '' ? undefined : ctx.query.language;
  return (typeof fromQuery === 'string' && fromQuery) || ctx.get('Accept-Language');
}

// Sources in the order of docs/spec.md, Timezone rules; the first one present is used.
function askedZone(ctx: Context): string | undefined {
  const fromQuery = ctx.search === '' ? undefined : ctx.query.timezone;
  return fromQuery?.toString() || ctx.get('X-Timezone') || ctx.get('Timezone') || undefined;
}

function logAccess(ctx: Context, durationMs: number): void {
  const { ip, identity, route } = ctx.state;
  // Unknown paths would make unlimited label values.
  const [method, path] = route ? [route.method, fullPath(route)] : ['', 'none'];
  requests.inc({ method, route: path, status: ctx.status });
  requestSeconds.observe({ method, route: path }, durationMs / 1000);
  const line = {
    method: ctx.method,
    path: ctx.path,
    status: ctx.status,
    duration_ms: Math.round(durationMs * 10) / 10,
    ip,
    admin_id: identity?.adminId,
  };
  // The duration of an upload depends on its sender.
  if (durationMs > slowMs && !route?.upload) logger.warn(line, 'slow request');
  else logger.info(line, 'request');
}

/** Health checks and static files have no span. */
const traced = /^\/api\//;

/**
 * Starts the span of a request, in the trace it brings (`traceparent`) or in a new one. It has no personal
 * data: client, address and input are in the log under the same trace id.
 */
function beginRequestSpan(ctx: Context, traceId: string): Span | undefined {
  if (!isTracing() || !traced.test(ctx.path)) return undefined;
  const attributes = { 'http.request.method': ctx.method, 'back_office.trace_id': traceId };
  const parent = spanNamed(ctx.get('traceparent'));
  return startSpan(ctx.method, { kind: SpanKind.SERVER, parent, attributes });
}

function endRequestSpan(span: Span | undefined, { status, state: { route } }: Context): void {
  if (!span) return;
  if (route) {
    span.updateName(`${route.method} ${fullPath(route)}`);
    span.setAttribute('http.route', fullPath(route));
  }
  span.setAttribute('http.response.status_code', status);
  if (status >= 500) failSpan(span, String(status));
  span.end();
}
