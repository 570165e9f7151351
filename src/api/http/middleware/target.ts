// Refuses requests without a path: `GET a://b`, CONNECT. They count for their address like any other.
import type { Middleware } from 'koa';
import { fail } from '../../../lib/errors/app-error.js';
import type { RequestState } from '../../declare/request-state.js';
import { limit } from './limits.js';

/** A path, or the `*` of OPTIONS. Koa answers null for a target that has none. */
const target = /^(\/|\*$)/;

export const refuseOddTargets: Middleware<RequestState> = async (ctx, next) => {
  if (!target.test(ctx.path) || ctx.method === 'CONNECT') {
    ctx.set('Connection', 'close');
    await limit('address', ctx);
    fail('bad_request');
  }
  await next();
};
