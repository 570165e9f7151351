// Temporary directories for throw-away servers, removed at the end with every process that used them.
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { atEnd } from './lifetime.mjs';
import {
  commandLine,
  listSafely,
  processesIn,
  processesStartedWith,
  readPid,
  stopProcess,
} from './process.mjs';

const PREFIX = 'back-office-';
const OWNER = 'owner.pid';
const MEMORY_DISK = '/dev/shm';
const MIN_MEMORY_BYTES = 2 * 1024 ** 3;

/** A fresh directory, in memory if there is enough unless `durable`; also clears what killed runs left. @param {boolean} durable */
export async function throwAwayHome(durable) {
  await sweep();
  const base = !durable && freeBytes(MEMORY_DISK) > MIN_MEMORY_BYTES ? MEMORY_DISK : os.tmpdir();
  const home = mkdtempSync(path.join(base, PREFIX));
  writeFileSync(path.join(home, OWNER), `${process.pid}\n`);
  atEnd(() => discard(home));
  return home;
}

/**
 * Ends every process that was started with THROW_AWAY_HOME=home, whatever group it has moved to, or works in it: servers
 * write over their environment.
 *
 * @param {string} home
 */
export async function endGuests(home) {
  const guests = new Set([...processesStartedWith(`THROW_AWAY_HOME=${home}`), ...processesIn(home)]);
  await Promise.all([...guests].map((pid) => stopProcess(pid, { signal: 'SIGKILL' })));
}

/** @param {string} home */
async function discard(home) {
  await endGuests(home);
  rmSync(home, { recursive: true, force: true, maxRetries: 3 });
}

async function sweep() {
  for (const base of new Set([MEMORY_DISK, os.tmpdir()])) {
    for (const name of listSafely(base).filter((entry) => entry.startsWith(PREFIX))) {
      const owner = readPid(path.join(base, name, OWNER));
      if (owner && !commandLine(owner)) await discard(path.join(base, name));
    }
  }
}

/** @param {string} directory */
function freeBytes(directory) {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
