// How often one client may call (docs/security.md): all routes together, and those that cost more by themselves.
import type { Context, Middleware } from 'koa';
import type { LimitName } from '../../../config/limits.js';
import { config } from '../../../config/index.js';
import { fail } from '../../lib/errors.js';
import { networkOf } from '../../lib/ip.js';
import { RateLimit } from '../../lib/rate-limit.js';
import type { RequestState } from '../request-state.js';
import { fullPath, type Route } from '../route.js';

const { enabled, ...rates } = config.limits;
const limits = Object.fromEntries(
  Object.entries(rates).map(([name, limit]) => [name, new RateLimit(name, limit)]),
) as Record<LimitName, RateLimit>;

/**
 * Counts the request for its address, whatever it asks for; health checks and callbacks are not counted.
 *
 * @throws too_many_requests
 */
export function limitAddresses(routes: readonly Route[]): Middleware<RequestState> {
  const free = routes
    .filter((route) => route.anyAddress || route.limit === 'refused-callback')
    .map((route) => fullPath(route).replace(/\{.*/, ''));
  return async (ctx, next) => {
    if (!free.some((start) => ctx.path.startsWith(start))) await limit('address', ctx.state.ip, ctx);
    await next();
  };
}

/** Counts the request for whoever makes it: an administrator, else an address. @throws too_many_requests */
export async function limitCaller(route: Route, ctx: Context): Promise<void> {
  const { ip, identity } = ctx.state as RequestState;
  if (identity) await limit('admin', String(identity.adminId), ctx);
  if (route.limit === undefined || route.limit === 'refused-callback') return;
  await limit(route.limit, identity ? String(identity.adminId) : ip, ctx);
}

/** Counts once more for that subject: an address or a number. @throws too_many_requests */
export async function limit(name: LimitName, subject: string, ctx: Context): Promise<void> {
  if (!enabled) return;
  const refusal = await limits[name].take(networkOf(subject));
  if (!refusal) return;
  const { retryAfter } = refusal;
  // draft-ietf-httpapi-ratelimit-headers-10
  ctx.set('RateLimit-Policy', `"${name}";q=${refusal.limit};w=60`);
  ctx.set('RateLimit', `"${name}";r=0;t=${retryAfter}`);
  fail('too_many_requests', { retryAfter });
}
