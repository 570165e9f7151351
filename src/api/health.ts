// {host}/healthz and {host}/readyz: for supervisors and load balancers.
import Joi from 'joi';
import { select } from '../lib/db.js';
import { fail } from '../lib/errors.js';
import { redis } from '../lib/redis.js';
import { route } from './route.js';

const state = Joi.object({ status: Joi.string().valid('ok').required() });

export const routes = [
  route({
    method: 'GET',
    path: '/healthz',
    host: true,
    anyAddress: true,
    summary: 'Tells that the process is up',
    access: 'public',
    response: state,
    handle: () => Promise.resolve({ status: 'ok' }),
  }),
  route({
    method: 'GET',
    path: '/readyz',
    host: true,
    anyAddress: true,
    summary: 'Tells that the database and Redis answer',
    access: 'public',
    response: state,
    async handle() {
      await select('SELECT 1');
      await redis.ping().catch((cause: unknown) => fail('cache_unavailable', { cause }));
      return { status: 'ok' };
    },
  }),
];
