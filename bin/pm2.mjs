// The processes of PM2 that work in the link `current`: replaced one after the other when it leads to another release.
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { findProgram, folderOf, run } from './process.mjs';
import { Failure, root } from './step.mjs';

const READY_TIMEOUT_MS = 120_000;

/** @typedef {{ name: string, cwd: string, instances: number, env: Record<string, string> }} App as in ecosystem.config.js */
/** @typedef {{ name: string, pid: number, pm2_env: { status: string, pm_cwd: string } }} Started */

const pm2 = findProgram('pm2') ?? path.join(root, 'node_modules/.bin/pm2');

/** PM2 starts these processes again after a reboot. */
export const savePm2 = () => run(pm2, ['save'], { name: 'pm2 save' });

/** Has PM2 run these apps, and no others, in the folder that the link leads to now. @param {string} link @param {App[]} apps @returns {Promise<number>} how many processes */
export async function workIn(link, apps) {
  const isCurrent = (/** @type {number} */ pid) => pid > 0 && folderOf(pid) === realpathSync(link);
  const isWanted = (/** @type {Started} */ { name }) => apps.some((app) => app.name === name);
  // PM2 would leave what the settings no longer name, as a former tenant, and its port may be another's now.
  const former = (await listStarted()).filter((one) => one.pm2_env.pm_cwd === apps[0]?.cwd && !isWanted(one));
  for (const name of new Set(former.map((one) => one.name))) await run(pm2, ['delete', name]);
  const ecosystem = path.join(link, 'ecosystem.config.js');
  await run(pm2, ['startOrReload', ecosystem], { name: 'pm2 startOrReload', cwd: link, mayBeKilled: false });
  const deadline = Date.now() + READY_TIMEOUT_MS;
  for (;;) {
    const started = (await listStarted()).filter(isWanted);
    // PM2 skips an instance whose last reload has not quite ended.
    const others = started.filter(({ pid, pm2_env }) => !isCurrent(pid) || pm2_env.status !== 'online');
    // It also keeps the number of instances.
    const uneven = apps.filter(
      ({ name, instances }) => started.filter((one) => one.name === name).length !== instances,
    );
    if (others.length + uneven.length === 0) return started.length;
    const names = new Set([...others, ...uneven].map(({ name }) => name));
    if (Date.now() > deadline)
      throw new Failure(`not running in ${link}: ${[...names].join(', ')}; see pm2 logs`);
    for (const { name, pid } of others)
      if (pid > 0 && !isCurrent(pid)) await run(pm2, ['reload', name]).catch(() => '');
    for (const { name, instances } of uneven)
      await run(pm2, ['scale', name, String(instances)]).catch(() => '');
    await sleep(1000);
  }
}

/** @returns {Promise<Started[]>} */
async function listStarted() {
  const output = await run(pm2, ['jlist', '--silent'], { name: 'pm2 jlist' });
  return JSON.parse(output.split('\n').find((line) => line.startsWith('[')) ?? '[]');
}
