// Installs Debian packages after an announcement (a question on a terminal), without starting their system services.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import { atEnd } from './lifetime.mjs';
import { findProgram, run } from './process.mjs';
import { Failure, messageOf, note, step } from './step.mjs';

const POLICY = '/usr/sbin/policy-rc.d';
const KEPT_POLICY = `${POLICY}.before-back-office`;
const LOCK_TIMEOUT_SECONDS = 120;

/** Whether packages can be installed here: Debian or Ubuntu, as root. */
export function canInstall() {
  return isRoot() && existsSync('/etc/debian_version') && findProgram('apt-get') !== undefined;
}

/** Asks to install these packages, or says how they are installed. @param {string[]} packages @param {string} [otherwise] what else would do */
export async function askToInstall(packages, otherwise = '') {
  if (packages.length === 0) return;
  if (!canInstall())
    throw new Failure(
      `Missing: ${packages.join(' and ')}. Packages can only be installed as root on Debian or Ubuntu.
  ${otherwise}Install them: sudo apt-get install ${packages.join(' ')}`,
    );
  const names = packages.join(' and ');
  note(
    `${names}: not installed. apt-get will install it on this machine, without starting system services; about a minute`,
  );
  if (!(await isAgreed())) throw new Failure(`${names}: not installed, as you wish`);
}

/** @param {string[]} packages */
export async function install(packages) {
  if (packages.length === 0) return;
  const names = packages.join(' and ');
  await step(async () => {
    const allowServices = forbidServices();
    await updateLists();
    await aptGet('install', '--no-install-recommends', ...packages);
    await allowServices();
    return `${names} installed`;
  });
}

// Asks only on a terminal; CI and containers continue.
async function isAgreed() {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return true;
  const terminal = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
  const answer = await terminal.question('Install? [Y/n] ');
  terminal.close();
  return !/^n/i.test(answer.trim());
}

// invoke-rc.d calls this program before it starts a service; 101 forbids it. Once the installing process is gone,
// the program defers to the one it replaced.
function forbidServices() {
  const isOurs = existsSync(POLICY) && readFileSync(POLICY, 'utf8').includes(KEPT_POLICY);
  if (existsSync(POLICY) && !isOurs) renameSync(POLICY, KEPT_POLICY);
  const script = `#!/bin/sh
kill -0 ${process.pid} 2>/dev/null && exit 101
[ -x ${KEPT_POLICY} ] && exec ${KEPT_POLICY} "$@"
exit 0
`;
  writeFileSync(POLICY, script, { mode: 0o755 });
  return atEnd(() => {
    rmSync(POLICY, { force: true });
    if (existsSync(KEPT_POLICY)) renameSync(KEPT_POLICY, POLICY);
  });
}

// apt-get waits for the package lock, but not for the lock of the package lists.
async function updateLists() {
  for (let second = 0; ; second++) {
    try {
      return await aptGet('update');
    } catch (error) {
      if (!messageOf(error).includes('Could not get lock') || second >= LOCK_TIMEOUT_SECONDS) throw error;
      await sleep(1000);
    }
  }
}

/** @param {string[]} args */
function aptGet(...args) {
  return run('apt-get', ['-y', '-q', '-o', `DPkg::Lock::Timeout=${LOCK_TIMEOUT_SECONDS}`, ...args], {
    env: { DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' },
    // apt-get stops a download on SIGINT, but lets dpkg finish what it has begun.
    stopSignal: 'SIGINT',
    mayBeKilled: false,
  });
}

function isRoot() {
  return process.getuid?.() === 0;
}
