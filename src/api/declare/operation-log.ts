// Log entries of administrators' writes and sign-in attempts.
import { now } from '../../lib/values/clock.js';
import { currentLanguage } from '../../lib/process/context.js';
import type { ErrorSlug } from '../../lib/errors/catalogue.js';
import { say, type Text } from '../../lib/values/language.js';
import { mask, maskText } from '../../lib/secrets/mask.js';
import { newUlid } from '../../lib/secrets/random-id.js';
import { readUserAgent, shortUserAgent } from '../../lib/values/user-agent.js';
import { keepEntry } from '../../jobs/write-logs.js';
import type { Identity } from '../../models/access/identity.js';
import type { OperationEntry } from '../../models/logs/operation-log.js';
import type { Context, RequestState } from './request-state.js';
import { fullPath, permissionOf, type Route } from './route.js';

const maxRequest = 20_000;

/** Whether a call belongs into the operation log: every write of a signed-in administrator but what changes nothing. */
export function isLogged({ identity, route, input }: RequestState): boolean {
  if (!identity || !route || route.method === 'GET') return false;
  if (route.isLogged === undefined) return true;
  return route.isLogged && route.isLogged(input?.body);
}

/** Stores the entry of a write when its request has ended, even if refused or failed. Never throws. */
export async function logOperation(ctx: Context, durationMs: number): Promise<void> {
  if (!isLogged(ctx.state)) return;
  const { changes } = ctx.state;
  const entry = {
    ...operationEntry(ctx),
    status: ctx.status,
    duration_ms: Math.round(durationMs),
    record_key: recordOf(ctx),
    changes: changes && changes.length > 0 ? JSON.stringify(mask(changes)) : null,
  };
  await keepEntry({ kind: 'operation', entry });
}

/** The entry of a write as known during the write. */
export function operationEntry(ctx: Context): OperationEntry {
  const { state } = ctx;
  const { ip, traceId } = state;
  const identity = state.identity as Identity;
  state.entry ??= {
    log_key: newUlid(),
    admin_id: identity.adminId,
    username: identity.username,
    ...operationOf(state.route as Route),
    method: ctx.method,
    path: maskText(ctx.path).slice(0, 500),
    ip,
    user_agent: shortUserAgent(ctx.get('User-Agent')),
    request: requestText(state),
    status: 200,
    duration_ms: 0,
    changes: null,
    trace_id: traceId,
    created_at: now().toISOString(),
    record_key: recordOf(ctx),
  };
  return state.entry;
}

const recordKey = /^[\x21-\x7e]{1,64}$/;

/** The number or id of the record that a write is about: its own, or as the path names it. */
function recordOf(ctx: Context): string | null {
  const { route, before, data } = ctx.state;
  const { module } = operationOf(route as Route);
  const { [`${module}_no`]: number, id } = { ...before, ...(data as object | undefined) } as Record<
    string,
    string | number | undefined
  >;
  const [inPath] = Object.values((ctx.params ?? {}) as Record<string, string>);
  // A path may name record 7 as 007.
  const key = String(number ?? inPath?.replace(/^0+(?=\d+$)/, '') ?? id ?? '');
  return recordKey.test(key) ? key : null;
}

/** Logs an attempt to sign in. Never throws. */
export async function logLogin(attempt: {
  adminId: number | undefined;
  username: string;
  ip: string;
  userAgent: string | undefined;
  outcome: ErrorSlug | 'login_success';
}): Promise<void> {
  const entry = {
    log_key: newUlid(),
    admin_id: attempt.adminId ?? null,
    username: attempt.username,
    ip: attempt.ip,
    user_agent: shortUserAgent(attempt.userAgent),
    ...readUserAgent(attempt.userAgent),
    status: attempt.outcome === 'login_success' ? 1 : 0,
    outcome: attempt.outcome,
    created_at: now().toISOString(),
  };
  await keepEntry({ kind: 'login', entry });
}

/** Module, action and title of a route in the operation log. */
function operationOf(route: Route): { module: string; action: string; title: string } {
  const permission = permissionOf(route);
  const [module = '', action = ''] = permission ? permission.slug.split('.') : nameOf(route);
  return { module, action: route.action ?? action, title: titleOf(route).en };
}

const titleOf = (route: Route): Text =>
  route.title ?? permissionOf(route)?.name ?? { zh: route.summary, en: route.summary };

let titles: ReadonlyMap<string, Text> = new Map();

/** Registers the titles of the routes; called once when the application is created. */
export function nameOperations(routes: readonly Route[]): void {
  titles = new Map(routes.map(titleOf).map((title) => [title.en, title]));
}

/** A stored title in the request's language; titles of earlier releases stay as stored. */
export function shownTitle(stored: string): string {
  const title = titles.get(stored);
  return title ? say(title, currentLanguage()) : stored;
}

function nameOf(route: Route): string[] {
  const [first = '', ...rest] = fullPath(route).split('/').slice(3);
  return [first.slice(0, 50), (rest.at(-1) ?? route.method.toLowerCase()).slice(0, 50)];
}

function requestText({ input, taken }: RequestState): string | null {
  if (!input) return null;
  const text = JSON.stringify(mask(input));
  if (text.length <= maxRequest) return text;
  // Without what the route does not take: it could be sent to crowd out what it takes.
  const checked = taken && JSON.stringify(mask(taken));
  if (checked && checked.length <= maxRequest) return checked;
  return JSON.stringify({ omitted: `${text.length} characters` });
}
