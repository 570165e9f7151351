// Hands what administrators and sign-ins did to the log queue; straight to the database when the queue is away.
import type { Context } from 'koa';
import { now } from '../lib/clock.js';
import type { ErrorSlug } from '../lib/error-catalogue.js';
import { logger } from '../lib/logger.js';
import { mask, maskText } from '../lib/mask.js';
import { QueueUnavailable } from '../lib/queue.js';
import { newUlid } from '../lib/random-id.js';
import { readUserAgent, shortUserAgent } from '../lib/user-agent.js';
import type { Job } from '../jobs/job.js';
import { writeLoginLog } from '../jobs/write-login-log.js';
import { writeOperationLog } from '../jobs/write-operation-log.js';
import { writeLogins } from '../models/login-log.js';
import { writeOperations } from '../models/operation-log.js';
import type { RequestState } from './request-state.js';
import { fullPath, permissionOf, type Route } from './route.js';

const longestRequest = 20_000;

/** Logs a write of a signed-in administrator, also when it was refused or failed. */
export async function logOperation(ctx: Context, durationMs: number): Promise<void> {
  const { identity, route, ip, traceId, input, changes } = ctx.state as RequestState;
  if (!identity || !route || route.method === 'GET') return;
  if (route.isLogged && !route.isLogged(input?.body)) return;
  try {
    await write(writeOperationLog, writeOperations, {
      log_key: newUlid(),
      admin_id: identity.adminId,
      username: identity.username,
      ...operationOf(route),
      method: ctx.method,
      path: maskText(ctx.path).slice(0, 500),
      ip,
      user_agent: shortUserAgent(ctx.get('User-Agent')),
      request: requestText(input),
      status: ctx.status,
      duration_ms: Math.round(durationMs),
      changes: changes && changes.length > 0 ? JSON.stringify(mask(changes)) : null,
      trace_id: traceId,
      created_at: now().toISOString(),
    });
  } catch (error) {
    // The answer is ready and must leave, whatever could not be written down about it.
    logger.error({ error }, 'an operation was not logged');
  }
}

/** Logs an attempt to sign in. Never throws. */
export async function logLogin(attempt: {
  adminId: number | undefined;
  username: string;
  ip: string;
  userAgent: string | undefined;
  outcome: ErrorSlug | 'login_success';
}): Promise<void> {
  await write(writeLoginLog, writeLogins, {
    log_key: newUlid(),
    admin_id: attempt.adminId ?? null,
    username: attempt.username,
    ip: attempt.ip,
    user_agent: shortUserAgent(attempt.userAgent),
    ...readUserAgent(attempt.userAgent),
    status: attempt.outcome === 'login_success' ? 1 : 0,
    outcome: attempt.outcome,
    created_at: now().toISOString(),
  });
}

/** Module, action and title of a route, as the operation log names them. */
export function operationOf(route: Route): { module: string; action: string; title: string } {
  const permission = permissionOf(route);
  const [module = '', action = ''] = permission ? permission.slug.split('.') : nameOf(route);
  return { module, action, title: (permission?.name ?? route.summary).slice(0, 100) };
}

function nameOf(route: Route): string[] {
  const [first = '', ...rest] = fullPath(route).split('/').slice(3);
  return [first.slice(0, 50), (rest.at(-1) ?? route.method.toLowerCase()).slice(0, 50)];
}

function requestText(input: RequestState['input']): string | null {
  if (!input) return null;
  const text = JSON.stringify(mask(input));
  return text.length > longestRequest ? JSON.stringify({ omitted: `${text.length} characters` }) : text;
}

async function write<T>(job: Job<T>, direct: (entries: T[]) => Promise<void>, entry: T): Promise<void> {
  try {
    await job.enqueue(entry);
  } catch (error) {
    if (!(error instanceof QueueUnavailable))
      logger.error({ error }, 'a log entry was refused by its schema');
    await direct([entry]).catch((reason: unknown) =>
      logger.error({ error: reason, entry }, 'a log entry was lost'),
    );
  }
}
