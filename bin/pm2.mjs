// PM2, as the release command uses it: start or reload what current/ecosystem.config.js names, and which release answers.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

import { refuseWhenEnding } from './lifetime.mjs';
import { findProgram, run } from './process.mjs';
import { Failure, note, root } from './step.mjs';

const ANSWER_TIMEOUT_MS = 90_000;
const LOOPBACKS = new Set(['', '0.0.0.0', '::', '127.0.0.1', '::1', 'localhost']);

/** @typedef {{ name: string, cwd: string, instances: number, env: Record<string, string> }} App */
/** @typedef {{ pid: number, name: string, pm2_env: { status: string, pm_cwd: string, NODE_APP_INSTANCE?: number, env: Record<string, string> } }} Started */
/** @typedef {{ version: string, commit: string }} Answer */

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

/** Has PM2 run the release that `link` leads to, one process after the other. @param {string} pm2 @param {string} link */
export async function reload(pm2, link) {
  const apps = await appsOf(link);
  // PM2 keeps the folder of the first start for good; what was started elsewhere must be started anew, once.
  const elsewhere = (await startedOf(pm2, apps)).filter(({ pm2_env }) => pm2_env.pm_cwd !== link);
  for (const name of new Set(elsewhere.map((one) => one.name))) {
    note(`${name} was started in another folder; it is stopped and started in ${link}, this once`);
    await run(pm2, ['delete', name], { name: 'pm2 delete' });
  }
  await run(pm2, ['startOrReload', path.join(link, 'ecosystem.config.js')], {
    name: 'pm2 startOrReload',
    cwd: link,
    mayBeKilled: false,
  });
}

/**
 * Waits until every process answers as that release.
 *
 * @param {string} pm2 @param {string} link @param {Answer} wanted
 * @returns how many there are
 */
export async function waitUntilAllAnswer(pm2, link, wanted) {
  const apps = await appsOf(link);
  const deadline = Date.now() + ANSWER_TIMEOUT_MS;
  for (;;) {
    refuseWhenEnding();
    const started = await startedOf(pm2, apps);
    const missing = apps
      .map(({ name }) => name)
      .filter((name) => !started.some((one) => one.name === name && one.pm2_env.status === 'online'));
    const states = await Promise.all(started.map((one) => stateOf(one, wanted)));
    const wrong = [
      ...missing.map((name) => `${name} does not run`),
      ...states.filter((state) => state !== undefined),
    ];
    if (wrong.length === 0) return started.length;
    if (Date.now() > deadline) throw new Failure(`not every process runs it:\n  ${wrong.join('\n  ')}`);
    await sleep(500);
  }
}

/** What is wrong with a process, if anything. @param {Started} one @param {Answer} wanted */
async function stateOf({ name, pid, pm2_env: { env, NODE_APP_INSTANCE = 0 } }, wanted) {
  const { METRICS_HOST = '' } = env;
  const host = LOOPBACKS.has(METRICS_HOST) ? '127.0.0.1' : METRICS_HOST;
  const url = `http://${host}:${Number(env.METRICS_PORT) + NODE_APP_INSTANCE}/healthz`;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
    const { version, commit } = /** @type {Answer} */ (await response.json());
    if (version === wanted.version && commit === wanted.commit) return undefined;
    return `${name} (process ${pid}) answers as ${version} ${commit}`;
  } catch {
    return `${name} (process ${pid}) does not answer at ${url}`;
  }
}
