// Locks of this checkout: sockets in .local/ that one process at a time can listen on. A lock ends with its holder.
import { rmSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

import { atEnd, refuseWhenEnding } from './lifetime.mjs';
import { note } from './step.mjs';

const POLL_MS = 200;

/**
 * What the holder of a lock says about itself.
 *
 * @typedef {{ address?: string, servers?: Record<string, string> }} Facts servers: the settings that lead to its database and Redis
 * @typedef {Facts & { pid: number }} Holder
 */

// Relative to the working directory: a socket path has at most 107 characters.
const socketOf = (/** @type {string} */ name, folder = '') =>
  path.join(path.relative('', folder), `.local/${name}.lock`);

/**
 * Takes a lock until it is released or the command ends.
 *
 * @param {string} name
 * @param {() => Facts} [facts] what others may know about its holder
 * @returns {Promise<(() => Promise<void>) | undefined>} releases it; undefined when another process has it
 */
export async function tryLock(name, facts = () => ({})) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(JSON.stringify({ pid: process.pid, ...facts() }));
  });
  const listens = () =>
    new Promise((resolve, reject) => {
      server.once('error', (error) =>
        'code' in error && error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
      );
      server.listen(socketOf(name), () => resolve(true));
    });
  const madeAt = () => statSync(socketOf(name), { throwIfNoEntry: false })?.ctimeMs;
  if (!(await listens())) {
    const found = madeAt();
    if (await holderOf(name)) return undefined;
    // Left by a holder that was killed, unless another process has put its own there meanwhile.
    if (madeAt() === found) rmSync(socketOf(name), { force: true });
    if (!(await listens()) || (await holderOf(name))?.pid !== process.pid) return undefined;
  }
  return atEnd(() => new Promise((resolve) => server.close(resolve)));
}

/**
 * Runs `work` while no other command of this checkout does the same.
 *
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} work
 */
export async function withLock(name, work) {
  let release = await tryLock(name);
  if (!release) note(`waiting for another command of this checkout: ${name}`);
  while (!release) {
    await sleep(POLL_MS);
    refuseWhenEnding();
    release = await tryLock(name);
  }
  try {
    return await work();
  } finally {
    await release();
  }
}

/** @param {string} name @param {string} [folder] another than the one where the command runs @returns {Promise<Holder | undefined>} */
export async function holderOf(name, folder) {
  try {
    return JSON.parse(await text(connect(socketOf(name, folder))));
  } catch {
    return undefined;
  }
}
