// Whether other deployments use this Redis under the same prefix: each would take jobs and sweeps of the other.
import { config } from '../../../config/index.js';
import { key, redis } from '../../lib/redis/redis.js';
import { superAdminSlug } from '../access/identity.js';
import { Role } from '../access/tables.js';

/** Workers register their database at every sweep. */
const maxAgeMs = 3 * config.worker.sweepSeconds * 1000;

/** Registers this database as one that uses this Redis. @returns the names of the others registered lately */
export async function registerDatabase(): Promise<string[]> {
  const [at, databases, { name }] = [Date.now(), key('databases'), config.database];
  // Databases on different servers may have the same name, but were not created in the same millisecond.
  const seeded = await Role.findOne({ where: { slug: superAdminSlug }, attributes: ['created_at'] });
  const own = `${name} ${seeded?.created_at.toISOString()}`;
  await redis.zadd(databases, at, own);
  await redis.zremrangebyscore(databases, 0, at - maxAgeMs);
  const registered = await redis.zrange(databases, 0, '-1');
  return registered.filter((one) => one !== own).map((one) => one.split(' ')[0] ?? '');
}
