// {host}/healthz and {host}/readyz: for supervisors and load balancers.
import Joi from 'joi';
import { payments, select } from '../../lib/db.js';
import { fail } from '../../lib/errors.js';
import { readMarks } from '../../lib/marks.js';
import { redis } from '../../lib/redis.js';
import { isBlocked } from '../../models/office/blacklist.js';
import { record } from '../declare/response.js';
import { route } from '../declare/route.js';

const ok = Joi.string().valid('ok').required();

export const routes = [
  route({
    method: 'GET',
    path: '/healthz',
    name: 'checkHealth',
    host: true,
    anyAddress: true,
    unlimited: true,
    summary: 'Tells that the process is up',
    access: 'public',
    response: record({ status: ok }),
    handle: () => Promise.resolve({ status: 'ok' }),
  }),
  route({
    method: 'GET',
    path: '/readyz',
    name: 'checkReadiness',
    host: true,
    anyAddress: true,
    unlimited: true,
    summary: 'Tells that requests can be served: the database takes writes',
    description:
      'Without Redis callbacks are settled and administrators served all the same, so that is said and no reason to be taken ' +
      'out of a balancer; with `strict=1` it is one.',
    access: 'public',
    query: Joi.object<{ strict: boolean }, true>({ strict: Joi.boolean().default(false) }),
    deadlineMs: 3000,
    response: record({ status: ok, database: ok, redis: Joi.string().valid('ok', 'away').required() }),
    async handle({ query, ip }) {
      // The way of a request: marks and blacklist first, then the connections that lists and callbacks use.
      const [mark] = await readMarks(['blacklist']);
      await isBlocked(ip, mark);
      const [takesWrites] = await Promise.all([isWriter(), payments.select('SELECT 1')]);
      if (!takesWrites) fail('database_unavailable', { cause: new Error('the database is read-only') });
      const away = (cause: unknown) => (query.strict ? fail('cache_unavailable', { cause }) : 'away');
      const state = await redis.ping().then(() => 'ok', away);
      return { status: 'ok', database: 'ok', redis: state };
    },
  }),
];

// A server that was demoted, or whose disk is full, still answers. Its word for "no" is 0 or OFF.
async function isWriter(): Promise<boolean> {
  const [server] = await select<{ read_only: string | number; storage: string | number }>(
    'SELECT @@global.read_only AS read_only, @@global.innodb_read_only AS storage',
  );
  return [server?.read_only, server?.storage].every((value) => value === 0 || value === 'OFF');
}
