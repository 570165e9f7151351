// Installs Debian packages without letting their system services start.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { atEnd } from './lifetime.mjs';
import { commandLine, findProgram, run } from './process.mjs';

const POLICY = '/usr/sbin/policy-rc.d';
const KEPT_POLICY = `${POLICY}.before-back-office`;
const OUR_POLICY = /temporary, by back-office, process (\d+)/;
const LOCK_TIMEOUT_SECONDS = 120;
const LOCK_POLL_MS = 1000;

/** Whether packages can be installed here: Debian or Ubuntu, as root. */
export function canInstall() {
  return isRoot() && existsSync('/etc/debian_version') && findProgram('apt-get') !== undefined;
}

/** Installs the packages; a policy of "start no service" is in force while apt-get runs, and only then. */
export async function install(packages) {
  repairPolicy();
  const restorePolicy = forbidServices();
  try {
    await updateLists();
    await aptGet('install', '--no-install-recommends', ...packages);
  } finally {
    restorePolicy();
  }
}

/** Takes back the policy of a run that was killed in the middle of an installation. */
export function repairPolicy() {
  if (!isRoot() || !existsSync(POLICY)) return;
  const owner = OUR_POLICY.exec(readFileSync(POLICY, 'utf8'))?.[1];
  if (owner && !commandLine(Number(owner)).includes('.mjs')) putBackPolicy();
}

// invoke-rc.d asks this program before it starts a service; 101 means "forbidden".
function forbidServices() {
  if (existsSync(POLICY)) renameSync(POLICY, KEPT_POLICY);
  writeFileSync(POLICY, `#!/bin/sh\n# temporary, by back-office, process ${process.pid}\nexit 101\n`, {
    mode: 0o755,
  });
  return atEnd(putBackPolicy);
}

function putBackPolicy() {
  rmSync(POLICY, { force: true });
  if (existsSync(KEPT_POLICY)) renameSync(KEPT_POLICY, POLICY);
}

// apt-get waits for the lock of the packages by itself, but not for the one of the package lists.
async function updateLists() {
  const deadline = Date.now() + LOCK_TIMEOUT_SECONDS * 1000;
  for (;;) {
    try {
      return await aptGet('update');
    } catch (error) {
      if (!/Could not get lock/.test(error.message) || Date.now() > deadline) throw error;
      await sleep(LOCK_POLL_MS);
    }
  }
}

function aptGet(...args) {
  return run(
    findProgram('apt-get'),
    ['-y', '-q', '-o', `DPkg::Lock::Timeout=${LOCK_TIMEOUT_SECONDS}`, ...args],
    {
      env: { DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' },
      // apt-get stops a download on SIGINT, but lets dpkg finish what it has begun.
      stopSignal: 'SIGINT',
      mayBeKilled: false,
    },
  );
}

function isRoot() {
  return process.getuid?.() === 0;
}
