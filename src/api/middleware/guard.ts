// Lets a request through to its route only if the caller may: default deny, fail closed.
import type { Context } from 'koa';
import { config } from '../../../config/index.js';
import { fail } from '../../lib/errors.js';
import { verifyToken } from '../../lib/token.js';
import { recognise, type Identity } from '../../models/identity.js';
import { mayPass } from '../permission.js';
import type { Route } from '../route.js';

export interface Admitted {
  identity?: Identity;
  marks: (string | undefined)[];
}

/**
 * Checks the bearer token, the module switch and the permission of a route.
 *
 * @throws not_logged_in, token_expired, token_revoked, token_invalid, module_…_disabled, no_permission
 */
export async function admit(route: Route, ctx: Context): Promise<Admitted> {
  if (route.access === 'public') return { marks: [] };
  const { identity, marks } = await recognise(verifyToken(bearerToken(ctx)), route.versions);
  ctx.state.identity = identity;
  if (route.module === 'orders' && !config.app.ordersEnabled) fail('module_orders_disabled');
  if (route.module === 'payments' && !config.payments.enabled) fail('module_payments_disabled');
  if (route.access !== 'signedIn' && !mayPass(identity, [route.access.slug])) fail('no_permission');
  return { identity, marks };
}

// RFC 6750, 2.1. A missing or empty header means "not signed in", another scheme or form is an invalid token.
function bearerToken(ctx: Context): string {
  const header = ctx.get('Authorization').trim();
  if (header === '' || /^bearer$/i.test(header)) fail('not_logged_in');
  return /^bearer +(\S+)$/i.exec(header)?.[1] ?? fail('token_invalid');
}
