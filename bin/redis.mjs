// A private Redis: append-only file, nothing evicted, loopback only, with a password.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { answers, LOOPBACK, startServer } from './daemon.mjs';
import { Failure } from './step.mjs';
import { findProgram } from './process.mjs';

/** The Redis server that is installed, if any. */
export function findRedis() {
  return findProgram('redis-server', 'valkey-server');
}

/**
 * Starts Redis with its data in `<home>/redis`; answers the environment variable that leads to it.
 *
 * @param {{ home: string, passwords: import('./local-home.mjs').Passwords, isThrowAway: boolean }} options
 */
export async function startRedis({ home, passwords: { redis: password }, isThrowAway }) {
  const program = findRedis();
  if (!program) throw new Failure('no Redis is installed');
  const data = path.join(home, 'redis');
  const settings = path.join(home, 'redis.conf');
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const port = await startServer({
    name: 'redis',
    home,
    isThrowAway,
    program,
    argsFor: (chosen) => {
      writeFileSync(settings, settingsText(chosen, data, password), { mode: 0o600 });
      return [settings];
    },
    // While the append-only file is being read, the answer is -LOADING.
    isReady: (chosen) => answers(chosen, `AUTH ${password}\r\nPING\r\n`, (reply) => reply.includes('+PONG')),
  });
  return { REDIS_URL: `redis://:${password}@${LOOPBACK}:${port}/0` };
}

// Queues live in Redis: it must never evict a key, and must survive a restart (at most 1 s is lost).
/** @param {number} port @param {string} data @param {string} password */
function settingsText(port, data, password) {
  return `bind ${LOOPBACK}
port ${port}
protected-mode yes
requirepass ${password}
dir ${JSON.stringify(data)}
appendonly yes
appendfsync everysec
save ""
maxmemory-policy noeviction
set-proc-title no
`;
}
