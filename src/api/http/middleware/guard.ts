// Authenticates and authorises each request: default deny, fail closed.
import type { IncomingMessage } from 'node:http';
import { config } from '../../../../config/index.js';
import { fail } from '../../../lib/errors/app-error.js';
import { readLink } from '../../../lib/secrets/link.js';
import { consumeStreamTicket } from '../../../lib/redis/ticket.js';
import { verifyToken } from '../../../lib/secrets/token.js';
import { isBlocked } from '../../../models/office/blacklist.js';
import { authenticate, type Identity } from '../../../models/access/identity.js';
import { currentVersions } from '../../../models/tables/versions.js';
import { mayCall } from '../../declare/permission.js';
import type { Context } from '../../declare/request-state.js';
import type { Route } from '../../declare/route.js';

/**
 * Checks the address, the bearer token, the first password, the module switch and the permission, in this
 * order. One command to Redis says whether any of these has changed since the last request.
 *
 * @returns who is signed in; undefined on a public route
 * @throws bad_request, ip_blocked, not_logged_in, token_expired, token_revoked, token_invalid,
 * password_change_required, module_…_disabled, no_permission
 */
export async function admit(route: Route, ctx: Context): Promise<Identity | undefined> {
  if (isAmbiguous(ctx.req)) fail('bad_request');
  if (route.anyAddress) return undefined;
  const versions = await currentVersions();
  if (await isBlocked(ctx.state.ip, versions)) fail('ip_blocked');
  if (route.access === 'public') return undefined;
  const { jti, subject } = await sessionOf(route, ctx);
  const identity = await authenticate(jti, versions);
  if (subject !== undefined && subject !== String(identity.adminId)) fail('token_invalid');
  ctx.state.identity = identity;
  if (identity.needsPasswordChange && !route.beforePasswordChange) fail('password_change_required');
  if (route.module === 'orders' && !config.app.ordersEnabled) fail('module_orders_disabled');
  if (route.module === 'payments' && !config.payments.enabled) fail('module_payments_disabled');
  if (route.access !== 'signedIn' && !mayCall(identity, route)) fail('no_permission');
  return identity;
}

// Two hosts (RFC 9112, 3.2), or a version without headers: a proxy may have parsed it as another request.
export function isAmbiguous({ rawHeaders, httpVersionMajor }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === 'host') hosts++;
  return hosts > 1 || httpVersionMajor < 1;
}

async function sessionOf(route: Route, ctx: Context): Promise<{ jti: string; subject?: string }> {
  const { ticket, link } = ctx.query;
  if (route.link && typeof link === 'string' && ctx.get('Authorization') === '')
    return { jti: readLink(link, ctx.path) ?? fail('link_invalid') };
  if (route.reply === 'event-stream' && typeof ticket === 'string' && ctx.get('Authorization') === '')
    return { jti: (await consumeStreamTicket(ticket, ctx.path)) ?? fail('ticket_invalid') };
  return verifyToken(bearerToken(ctx));
}

// RFC 6750, 2.1. A missing or empty header means not signed in; another scheme or form is an invalid token.
function bearerToken(ctx: Context): string {
  const header = ctx.get('Authorization').trim();
  if (header === '' || /^bearer$/i.test(header)) fail('not_logged_in');
  return /^bearer +(\S+)$/i.exec(header)?.[1] ?? fail('token_invalid');
}
