// Lock files that survive nobody: taken atomically, and taken over when their holder is gone.
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { atEnd, refuseWhenEnding } from './lifetime.mjs';
import { commandLine, workingDirectory } from './process.mjs';
import { note, root } from './step.mjs';

const POLL_MS = 200;

/**
 * Takes the lock until `release()` or the end of the command; when a living process has it, answers that
 * `holder` instead.
 */
export function tryLock(file) {
  const mine = `${file}.${process.pid}`;
  writeFileSync(mine, JSON.stringify(self()), { mode: 0o600 });
  try {
    // A hard link appears complete or not at all, so nobody ever reads a half-written lock.
    while (!link(mine, file)) {
      const holder = readLock(file);
      if (holder && isAlive(holder)) return { holder };
      removeStale(file, holder);
    }
  } finally {
    rmSync(mine);
  }
  return { release: atEnd(() => rmSync(file, { force: true })) };
}

/** Runs `work` while no other command of this checkout does the same. */
export async function withLock(file, what, work) {
  let lock = tryLock(file);
  if (lock.holder) note(`waiting for another command that is ${what}`);
  while (lock.holder) {
    await sleep(POLL_MS);
    refuseWhenEnding();
    lock = tryLock(file);
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}

/** Adds facts to a lock that is held, such as the address served. */
export function describeLock(file, facts) {
  const changed = `${file}.${process.pid}`;
  writeFileSync(changed, JSON.stringify({ ...self(), ...facts }, null, 2), { mode: 0o600 });
  renameSync(changed, file);
}

/** What a lock file says, or undefined. */
export function readLock(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function self() {
  return { pid: process.pid, command: path.basename(process.argv[1]) };
}

// The process id alone proves nothing: it may have been given to another program meanwhile.
function isAlive({ pid, command }) {
  return commandLine(pid).includes(command) && ['', root].includes(workingDirectory(pid));
}

function link(from, to) {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

// Moved aside first: if a faster command has just taken the lock over, it gets its own lock back.
function removeStale(file, stale) {
  const aside = `${file}.${process.pid}.stale`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  if (readLock(aside)?.pid !== stale?.pid) link(aside, file);
  rmSync(aside);
}
