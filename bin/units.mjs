// systemd units for the release command: those that run in `current`, restarted one after the other.
import { readFileSync, realpathSync } from 'node:fs';
import { userInfo } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import { faultsOf } from './answers.mjs';
import { refuseWhenEnding } from './lifetime.mjs';
import { findProgram, folderOf, run } from './process.mjs';
import { Failure } from './step.mjs';

const READY_TIMEOUT_MS = 90_000;
/** A unit may end and start so often before the release is given up. */
const MAX_RESTARTS = 3;
const PROPERTIES = ['Id', 'User', 'WorkingDirectory', 'Environment', 'MainPID', 'NRestarts', 'ActiveState'];

/** @typedef {import('./answers.mjs').Answer} Answer */
/** @typedef {{ name: string, user: string, pid: number, restarts: number, state: string, env: Record<string, string>, instance: number }} Unit */

/** The units that work in that folder, those of the API first; none where systemd does not run. @param {string} link @returns {Promise<Unit[]>} */
export async function unitsIn(link) {
  if (readSafely('/proc/1/comm') !== 'systemd' || !findProgram('systemctl')) return [];
  const output = await run('systemctl', ['show', `--property=${PROPERTIES.join(',')}`, '*.service']);
  return output
    .split('\n\n')
    .map((text) => Object.fromEntries(text.split('\n').map((line) => splitAt(line, '='))))
    .filter(({ WorkingDirectory }) => WorkingDirectory === link)
    .map((unit) => {
      const env = Object.fromEntries(
        unit.Environment.split(' ').map((/** @type {string} */ one) => splitAt(one, '=')),
      );
      return {
        name: unit.Id.replace(/\.service$/, ''),
        user: unit.User,
        state: unit.ActiveState,
        env,
        pid: Number(unit.MainPID),
        restarts: Number(unit.NRestarts),
        instance: Number(env.NODE_APP_INSTANCE ?? 0),
      };
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** @param {string} line @param {string} sign */
function splitAt(line, sign) {
  const at = line.indexOf(sign);
  return [line.slice(0, at), line.slice(at + 1)];
}

/** @param {string} file */
function readSafely(file) {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}

/** A process may be ended only by its own account, and what is tried beforehand writes into the storage. @param {Unit[]} units */
export function refuseOtherAccount(units) {
  const { username } = userInfo();
  const other = units.find(({ user }) => (user || 'root') !== username);
  if (other)
    throw new Failure(
      `${other.name} runs as ${other.user || 'root'}: sudo -u ${other.user || 'root'} npm run release -- …`,
    );
}

/**
 * Has each unit run the release behind `link`: its process is ended, systemd starts it again there, and the next one follows
 * when it answers and is ready.
 *
 * @param {string} link @param {Answer} wanted
 */
export async function restartUnits(link, wanted) {
  for (const { name, pid, restarts } of await unitsIn(link)) {
    if (pid > 0 && folderOf(pid) !== realpathSync(link)) process.kill(pid, 'SIGTERM');
    await comesUp(name, restarts, link, wanted);
  }
}

/** @param {string} name @param {number} before how often systemd had started it again @param {string} link @param {Answer} wanted */
async function comesUp(name, before, link, wanted) {
  const told = `what it said: journalctl -u ${name} -n 50`;
  const deadline = Date.now() + READY_TIMEOUT_MS;
  for (;;) {
    refuseWhenEnding();
    const unit = (await unitsIn(link)).find((one) => one.name === name);
    if (!unit || /^(failed|inactive)$/.test(unit.state))
      throw new Failure(`${name} does not run; ${told}; as root: systemctl start ${name}`);
    if (unit.restarts - before > MAX_RESTARTS)
      throw new Failure(`${name} ends as soon as it is started; ${told}`);
    const isThere = unit.pid > 0 && folderOf(unit.pid) === realpathSync(link);
    if (isThere && (await faultsOf([unit], link, wanted)).length === 0 && (await isReady(unit))) return;
    if (Date.now() > deadline)
      throw new Failure(`${name} is not ready after ${READY_TIMEOUT_MS / 1000} s; ${told}`);
    await sleep(500);
  }
}

/** @param {Unit} unit */
async function isReady({ env, instance }) {
  const url = `http://127.0.0.1:${Number(env.METRICS_PORT) + instance}/readyz`;
  return fetch(url, { signal: AbortSignal.timeout(2000) }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** What runs of them and what does not. @param {string} link */
export async function servedByUnits(link) {
  const units = await unitsIn(link);
  return {
    served: units.filter(({ pid }) => pid > 0),
    missing: units.filter(({ pid }) => pid === 0).map(({ name }) => name),
  };
}
