// A private Redis: append-only file, nothing evicted, loopback only, with a password.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { answers, LOOPBACK, startDaemon } from './daemon.mjs';
import { findProgram } from './process.mjs';

/** Whether a Redis server is installed. */
export function hasRedis() {
  return findRedis() !== undefined;
}

/** Starts Redis with its data in `<home>/redis`; answers the environment variable that leads to it. */
export async function startRedis({ home, passwords, isThrowAway }) {
  const password = passwords.redis;
  const data = path.join(home, 'redis');
  const settings = path.join(home, 'redis.conf');
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const { port } = await startDaemon({
    name: 'redis',
    home,
    isThrowAway,
    program: findRedis(),
    argsFor: (chosenPort) => {
      writeFileSync(settings, settingsText({ port: chosenPort, data, password }), { mode: 0o600 });
      return [settings];
    },
    // While the append-only file is being read, the answer is -LOADING.
    isReady: (chosenPort) =>
      answers(chosenPort, `AUTH ${password}\r\nPING\r\n`, (reply) => reply.includes('+PONG')),
  });
  return { REDIS_URL: `redis://:${password}@${LOOPBACK}:${port}/0` };
}

function findRedis() {
  return findProgram('redis-server', 'valkey-server');
}

// Queues live in Redis: it must never evict a key, and must survive a restart (at most 1 s is lost).
function settingsText({ port, data, password }) {
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
