// Request limits per client (docs/security.md): over all routes, and for costly ones.
import type { LimitName } from '../../../../config/limits.js';
import { config } from '../../../../config/index.js';
import { fail } from '../../../lib/errors/app-error.js';
import { networkOf } from '../../../lib/values/ip.js';
import { RateLimit } from '../../../lib/redis/limiters.js';
import type { Context } from '../../declare/request-state.js';
import type { Route } from '../../declare/route.js';

const { enabled, ...rates } = config.limits;
const limits = Object.fromEntries(
  Object.entries(rates).map(([name, limit]) => [name, new RateLimit(name, limit)]),
) as Record<LimitName, RateLimit>;

/** Counted per administrator; the others per address. */
const ofAdmins: ReadonlySet<LimitName> = new Set(['admin', 'export', 'upload', 'ticket', 'stream']);

/** Counts the request for its administrator and its own limit. @throws too_many_requests */
export async function limitWork({ limit: work, reply }: Route, ctx: Context): Promise<void> {
  if (ctx.state.identity) await limit('admin', ctx);
  if (work) await limit(work, ctx);
  if (reply === 'event-stream') await limit('stream', ctx);
}

/** Counts a request for a socket, which no middleware sees. @throws too_many_requests */
export async function limitUpgrades(ip: string): Promise<void> {
  const refusal = enabled && (await limits.address.take(networkOf(ip)));
  if (refusal) fail('too_many_requests', { retryAfter: refusal.retryAfter });
}

/** Counts once for the caller. @throws too_many_requests */
export async function limit(name: LimitName, ctx: Context): Promise<void> {
  if (!enabled) return;
  const { ip, identity } = ctx.state;
  const caller = ofAdmins.has(name) && identity ? String(identity.adminId) : networkOf(ip);
  const refusal = await limits[name].take(caller);
  if (!refusal) return;
  const { retryAfter } = refusal;
  // draft-ietf-httpapi-ratelimit-headers-10
  ctx.set('RateLimit-Policy', `"${name}";q=${refusal.limit};w=60`);
  ctx.set('RateLimit', `"${name}";r=0;t=${retryAfter}`);
  fail('too_many_requests', { retryAfter });
}
