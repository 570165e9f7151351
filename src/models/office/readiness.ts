// Whether what this process needs takes writes.
import { select } from '../../lib/database/db.js';
import { tryWrite } from '../../lib/redis/redis.js';

/** Whether the database takes writes: one that was demoted still answers. A full disk is not noticed. */
export async function takesWrites(): Promise<boolean> {
  const [server] = await select<{ read_only: string | number; storage: string | number }>(
    'SELECT @@global.read_only AS read_only, @@global.innodb_read_only AS storage',
  );
  // Its word for "no" is 0 or OFF.
  return [server?.read_only, server?.storage].every((value) => value === 0 || value === 'OFF');
}

/** Which of what this process needs takes writes: the database, and Redis. */
export async function checkReachable(): Promise<{ database: boolean; redis: boolean }> {
  const [database, cache] = await Promise.all([
    takesWrites().catch(() => false),
    tryWrite().then(
      () => true,
      () => false,
    ),
  ]);
  return { database, redis: cache };
}
