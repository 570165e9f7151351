// npm run bench -- hostile [part of a name]: what attacks cost everybody else.
//
// Each attack meets a fresh API, warmed by lists and by the documentation page, behind nginx with the shipped deploy/nginx.conf
// (without TLS, which the attackers do not speak). Attackers are a process of their own on the same cores. The honest client is
// this process: 25 lists a second and a sign-in every two seconds. Memory is the growth during the attack. 10,000 connections
// take as many open files; with fewer (ulimit -n) fewer are opened, which the line of progress shows.
import { setTimeout as sleep } from 'node:timers/promises';
import { attacks } from './attacks/attacks.js';
import { startHonest } from './attacks/honest.js';
import { startNginx } from './attacks/nginx.js';
import { startApi, startScript, type Process } from './support/processes.js';
import { mb, ms, printTable } from './support/report.js';
import { runBench } from './support/run.js';
import { call, signIn } from './support/session.js';
import { adminPassword, makeSite, type Site } from './support/site.js';

const seconds = 6;
const wanted = process.argv[2] ?? '';
/** Who attacks signed in is another administrator than the honest one. */
const attackerName = 'attacker';
/** Other benchmarks measure without limits; /docs is off in production. */
const asDelivered = {
  LIMITS_ENABLED: 'true',
  TRUSTED_PROXIES: '127.0.0.1',
  DOCS_ENABLED: 'true',
  LOG_LEVEL: 'fatal',
};

await runBench(async () => {
  const made = await makeSite('hostile');
  const site = { ...made, env: { ...made.env, ...asDelivered } };
  const api = await startApi(site);
  const admin = { username: attackerName, password: adminPassword, nickname: attackerName, role_ids: [1] };
  await call(`${api.url}/api/admin/admins`, await signIn(api.url), admin);
  await api.stop();
  const attacker = await startScript('attacks/attacker', site);
  const table: Record<string, string> = {};
  for (const name of Object.keys(attacks))
    if (name.includes(wanted)) table[name] = await attacked(name, site, attacker);
  printTable(`bench:hostile (memory, honest lists and sign-ins meanwhile; ${seconds} s each)`, table);
}, 20);

async function attacked(name: string, site: Site, attacker: Process): Promise<string> {
  const api = await startApi(site);
  const { authorization } = await signIn(api.url);
  await warm(api, authorization);
  const before = api.memory();
  api.peakMemory();
  const nginx = await startNginx(api.url);
  const url = `http://127.0.0.1:${nginx.port}`;
  const stopHonest = startHonest(url, authorization);
  const target = { url, ...(await signIn(api.url, attackerName)), seconds };
  const summary = await attacker.ask<string>({ name, target });
  const { lists, signIns, failed, p99 } = await stopHonest();
  const growth = api.peakMemory() - before;
  await nginx.stop();
  await nginx.remove();
  await api.stop();
  console.log(`  ${name}: ${summary}`);
  return `${mb(before)} + ${mb(growth)}; p99 ${ms(p99)} of ${lists} lists; ${signIns} sign-ins; ${failed} failed`;
}

/** What every process has done before long. */
async function warm({ url }: Process, authorization: string): Promise<void> {
  for (const encoding of ['identity', 'gzip', 'br']) {
    const page = await fetch(`${url}/docs/swagger-ui-bundle.js`, {
      headers: { 'accept-encoding': encoding },
    });
    await page.arrayBuffer();
  }
  for (let round = 0; round < 40; round++)
    await Promise.all(Array.from({ length: 10 }, () => call(`${url}/api/admin/orders`, { authorization })));
  await sleep(1000);
}
