// PM2 for the release command: starts or reloads the processes of current/ecosystem.config.js, and tells which release answers.
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

import { faultsOf } from './answers.mjs';
import { findProgram, folderOf, run } from './process.mjs';
import { Failure, note, root } from './step.mjs';

const READY_TIMEOUT_MS = 90_000;
const POLL_MS = 2000;
const STOP_TIMEOUT_MS = 12_000;
/** A process of the new release may end and start so often before the release is given up. */
const MAX_RESTARTS = 3;

/** @typedef {{ name: string, cwd: string, instances: number, env: Record<string, string> }} App */
/** @typedef {{ pid: number, pm_id: number, name: string, pm2_env: { status: string, restart_time: number, pm_cwd: string, NODE_APP_INSTANCE?: number, env: Record<string, string> } }} Started */
/** @typedef {import('./answers.mjs').Answer} Answer */

/** The installed PM2, else the one of this checkout. */
export function findPm2() {
  const own = path.join(root, 'node_modules/.bin/pm2');
  const program = findProgram('pm2') ?? (existsSync(own) ? own : undefined);
  if (program) return program;
  throw new Failure('PM2 is not installed: npm install --global pm2');
}

/** The processes that a release names. @param {string} folder @returns {Promise<App[]>} */
export async function appsOf(folder) {
  const file = pathToFileURL(path.join(folder, 'ecosystem.config.js')).href;
  const script = `process.stdout.write(JSON.stringify((await import(${JSON.stringify(file)})).apps))`;
  return JSON.parse(await run(process.execPath, ['--input-type=module', '-e', script], { name: file }));
}

/** What PM2 runs of these apps. @param {string} pm2 @param {App[]} apps @returns {Promise<Started[]>} */
export async function startedOf(pm2, apps) {
  const output = await run(pm2, ['jlist', '--silent'], { name: 'pm2 jlist' });
  const list = output.split('\n').find((line) => line.startsWith('[{') || line.trim() === '[]') ?? '[]';
  const names = new Set(apps.map(({ name }) => name));
  return JSON.parse(list).filter((/** @type {Started} */ one) => names.has(one.name));
}

/**
 * Has PM2 run the release behind `link`, one process after the other. If a new process does not start, or reports another
 * release, the rest is left alone and its predecessor goes on serving.
 *
 * @param {string} pm2 @param {string} link @param {Answer} wanted
 */
export async function reload(pm2, link, wanted) {
  const apps = await appsOf(link);
  await finishReload(pm2, apps, link);
  // PM2 keeps the folder of the first start; processes started elsewhere must be started again, once.
  const elsewhere = (await startedOf(pm2, apps)).filter(({ pm2_env }) => pm2_env.pm_cwd !== link);
  for (const name of new Set(elsewhere.map((one) => one.name))) {
    note(`${name} was started in another folder; it is stopped and started in ${link}, this once`);
    await run(pm2, ['delete', name], { name: 'pm2 delete' });
  }
  const [givenUp, ended] = [new AbortController(), new AbortController()];
  const watching = failWhenOneIsWrong(pm2, apps, link, wanted, ended.signal).catch((error) => {
    givenUp.abort();
    throw error;
  });
  const replacing = startOrReload(pm2, apps, link, givenUp.signal).finally(() => ended.abort());
  const [watched, replaced] = await Promise.allSettled([watching, replacing]);
  for (const result of [watched, replaced]) if (result.status === 'rejected') throw result.reason;
}

/** @param {string} pm2 @param {App[]} apps @param {string} link @param {AbortSignal} giveUp */
async function startOrReload(pm2, apps, link, giveUp) {
  await run(pm2, ['startOrReload', path.join(link, 'ecosystem.config.js')], {
    name: 'pm2 startOrReload',
    cwd: link,
    mayBeKilled: false,
    giveUp,
  });
  await reloadTheRest(pm2, apps, link, giveUp);
}

/**
 * PM2 waits `listen_timeout` (ten minutes) for a new process and then ends the old one anyway. The old one has another id by then
 * and is in none of its lists.
 *
 * @param {string} pm2 @param {App[]} apps @param {string} link @param {Answer} wanted @param {AbortSignal} ended
 */
async function failWhenOneIsWrong(pm2, apps, link, wanted, ended) {
  const before = new Map((await startedOf(pm2, apps)).map((one) => [one.pm_id, one.pm2_env.restart_time]));
  /** @type {Map<number, number>} */
  const startingSince = new Map();
  while (!ended.aborted) {
    await sleep(POLL_MS, undefined, { signal: ended }).catch(() => {});
    const started = ended.aborted ? [] : await startedOf(pm2, apps);
    const online = started.filter(({ pm2_env }) => pm2_env.status === 'online');
    await faultsOf(online.map(asServed), link, wanted);
    for (const { name, pm_id, pm2_env } of started) {
      const told = `what it said: pm2 logs ${name} --lines 50`;
      if (pm2_env.status === 'errored' || pm2_env.restart_time - (before.get(pm_id) ?? 0) > MAX_RESTARTS)
        throw new Failure(`${name} ends as soon as it is started; ${told}`);
      if (pm2_env.status === 'online') startingSince.delete(pm_id);
      else if (!startingSince.has(pm_id)) startingSince.set(pm_id, Date.now());
      else if (Date.now() - (startingSince.get(pm_id) ?? 0) > READY_TIMEOUT_MS)
        throw new Failure(`${name} is not ready after ${READY_TIMEOUT_MS / 1000} s; ${told}`);
    }
  }
}

// An abandoned reload leaves instances waiting for their successor, which now comes from `link`. PM2 starts again what is ended or
// crashes; a restart of a starting process would start it twice.
/** @param {string} pm2 @param {App[]} apps @param {string} link */
async function finishReload(pm2, apps, link) {
  const restarted = new Set();
  const deadline = Date.now() + READY_TIMEOUT_MS;
  const killFrom = Date.now() + STOP_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const starting = (await startedOf(pm2, apps)).filter(({ pm2_env }) => pm2_env.status !== 'online');
    if (starting.length === 0) return;
    for (const { pid, pm_id, pm2_env } of starting) {
      // SIGKILL would cut the connections of one that already listens.
      if (pm2_env.status === 'launching')
        endElsewhere(pid, link, Date.now() < killFrom ? 'SIGTERM' : 'SIGKILL');
      if (!/^(stopped|errored)$/.test(pm2_env.status) || restarted.has(pm_id)) continue;
      restarted.add(pm_id);
      await run(pm2, ['restart', String(pm_id)], { name: 'pm2 restart' });
    }
    await sleep(500);
  }
}

/** @param {number} pid @param {string} link @param {NodeJS.Signals} signal */
function endElsewhere(pid, link, signal) {
  const folder = folderOf(pid);
  // Until it changes to its folder it is in PM2's.
  const isElsewhere = folder?.startsWith(`${path.dirname(link)}/releases/`) && folder !== realpathSync(link);
  if (isElsewhere) process.kill(pid, signal);
}

// PM2 skips an instance whose last reload has not quite ended; one started while the link changed may run the code of one
// release in the folder of another.
/** @param {string} pm2 @param {App[]} apps @param {string} link @param {AbortSignal} giveUp */
async function reloadTheRest(pm2, apps, link, giveUp) {
  const folder = realpathSync(link);
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (!giveUp.aborted) {
    const elsewhere = (await startedOf(pm2, apps)).filter(({ pid }) => pid > 0 && folderOf(pid) !== folder);
    if (elsewhere.length === 0) return;
    const names = elsewhere.map(({ name, pid }) => `${name} (process ${pid})`).join(', ');
    if (Date.now() > deadline) throw new Failure(`PM2 has not replaced ${names}`);
    // By name: with an id PM2 misses the new one's ready message.
    for (const name of new Set(elsewhere.map((one) => one.name)))
      await run(pm2, ['reload', name], { name: 'pm2 reload', giveUp }).catch(() => {});
    await sleep(1000);
  }
}

/** @param {Started} one @returns {import('./answers.mjs').Served} */
const asServed = ({ name, pid, pm2_env: { env, NODE_APP_INSTANCE } }) => ({
  name,
  pid,
  env,
  instance: NODE_APP_INSTANCE,
});

/** What runs of a release and what does not. @param {string} pm2 @param {string} link */
export async function servedByPm2(pm2, link) {
  const apps = await appsOf(link);
  const started = await startedOf(pm2, apps);
  const isOnline = (/** @type {string} */ name) =>
    started.some((one) => one.name === name && one.pm2_env.status === 'online');
  return {
    served: started.map(asServed),
    missing: apps.map(({ name }) => name).filter((name) => !isOnline(name)),
  };
}
