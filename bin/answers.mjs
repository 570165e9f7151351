// The release of each serving process, as its metrics port reports it.
import { realpathSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { refuseWhenEnding } from './lifetime.mjs';
import { folderOf } from './process.mjs';
import { Failure } from './step.mjs';

const ANSWER_TIMEOUT_MS = 90_000;
const LOOPBACKS = new Set(['', '0.0.0.0', '::', '127.0.0.1', '::1', 'localhost']);

/** @typedef {{ version: string, commit: string }} Answer */
/** @typedef {{ name: string, pid: number, env: NodeJS.ProcessEnv, instance?: number }} Served a process and what it was told */

/** What is wrong with a process; `isFinal` when waiting does not change it. @typedef {{ text: string, isFinal: boolean }} Fault */

/**
 * A process in the folder of the new release that reports another version will not change.
 *
 * @param {Served} one @param {string} link @param {Answer} wanted @returns {Promise<Fault | undefined>}
 */
export async function faultOf({ name, pid, env, instance = 0 }, link, wanted) {
  const { METRICS_HOST = '' } = env;
  const host = LOOPBACKS.has(METRICS_HOST) ? '127.0.0.1' : METRICS_HOST;
  const url = `http://${host}:${Number(env.METRICS_PORT) + instance}/healthz`;
  const who = `${name} (process ${pid})`;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
    const answer = /** @type {Answer & { pid?: number }} */ (await response.json());
    // Its predecessor holds the port until it ends. Older releases do not report a process id.
    if (answer.pid !== undefined && answer.pid !== pid)
      return { text: `${who} does not answer at ${url} yet`, isFinal: false };
    if (answer.version === wanted.version && answer.commit === wanted.commit) return undefined;
    const isFinal = answer.pid === pid && folderOf(pid) === realpathSync(link);
    return { text: `${who} answers as ${answer.version} ${answer.commit}`, isFinal };
  } catch {
    return { text: `${who} does not answer at ${url}`, isFinal: false };
  }
}

/** Fails as soon as one of them says for good that it is another release. @param {Served[]} all @param {string} link @param {Answer} wanted */
export async function faultsOf(all, link, wanted) {
  const found = await Promise.all(all.map((one) => faultOf(one, link, wanted)));
  const faults = found.filter((one) => one !== undefined);
  const final = faults.find(({ isFinal }) => isFinal);
  if (final) throw new Failure(`${final.text}, and its folder is that of ${wanted.version} ${wanted.commit}`);
  return faults.map(({ text }) => text);
}

/**
 * Waits until every process reports that release.
 *
 * @param {() => Promise<{ served: Served[], missing: string[] }>} look @param {string} link @param {Answer} wanted
 * @returns how many there are
 */
export async function waitUntilAllAnswer(look, link, wanted) {
  const deadline = Date.now() + ANSWER_TIMEOUT_MS;
  for (;;) {
    refuseWhenEnding();
    const { served, missing } = await look();
    const wrong = [
      ...missing.map((name) => `${name} does not run`),
      ...(await faultsOf(served, link, wanted)),
    ];
    if (wrong.length === 0) return served.length;
    if (Date.now() > deadline) throw new Failure(`not every process runs it:\n  ${wrong.join('\n  ')}`);
    await sleep(500);
  }
}
