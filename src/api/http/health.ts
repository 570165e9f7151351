// {host}/healthz and {host}/readyz: for supervisors and load balancers.
import Joi from 'joi';
import { config } from '../../../config/index.js';
import { fail } from '../../lib/errors/app-error.js';
import { tryWrite } from '../../lib/redis/redis.js';
import type { Readiness } from '../../lib/watch/port.js';
import { currentVersions } from '../../models/tables/versions.js';
import { isBlocked } from '../../models/office/blacklist.js';
import { takesWrites, checkReachable } from '../../models/office/readiness.js';
import { record } from '../declare/response.js';
import { route } from '../declare/route.js';

const ok = Joi.string().valid('ok').required();

export const routes = [
  route('GET', '/healthz', {
    name: 'checkHealth',
    host: true,
    anyAddress: true,
    unlimited: true,
    summary: 'Check that the process is up, and which release it runs',
    access: 'public',
    response: record({
      status: ok.description('The process answers'),
      version: Joi.string().required().description('Version of the release'),
      commit: Joi.string().allow('').required().description('Commit of the release; empty if unknown'),
    }),
    handle: () => Promise.resolve({ status: 'ok', version: config.version, commit: config.commit }),
  }),
  route('GET', '/readyz', {
    name: 'checkReadiness',
    host: true,
    anyAddress: true,
    unlimited: true,
    summary: 'Check that requests can be served: the database takes writes',
    description:
      'Without Redis the service still settles callbacks and serves administrators, so the answer is 200 with `redis: away`; ' +
      'with `strict=1` it is 503.',
    access: 'public',
    query: Joi.object<{ strict: boolean }, true>({ strict: Joi.boolean().default(false) }),
    deadlineMs: 3000,
    response: record({
      status: ok.description('Requests are served'),
      database: ok.description('Whether the database takes writes'),
      redis: Joi.string().valid('ok', 'away').required().description('Whether Redis takes writes'),
    }),
    async handle({ query, ip }) {
      // The same path as a request: versions and blacklist, then the database.
      await isBlocked(ip, await currentVersions());
      if (!(await takesWrites()))
        fail('database_unavailable', { cause: new Error('the database is read-only') });
      const away = (cause: unknown) => (query.strict ? fail('cache_unavailable', { cause }) : 'away');
      const state = await tryWrite().then(() => 'ok', away);
      return { status: 'ok', database: 'ok', redis: state };
    },
  }),
];

/** Status for the supervisor; without Redis the process still serves. */
export async function readiness(): Promise<Readiness> {
  const { database, redis: cache } = await checkReachable();
  return { isReady: database, database, redis: cache };
}
