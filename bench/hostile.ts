// npm run bench -- hostile [part of a name]: what attacks cost everybody else.
//
// - The API is a process of its own as in production, behind nginx with the shipped deploy/nginx.conf (without TLS, which the
//   attackers do not speak), over its own MariaDB and Redis, with /docs switched on, which production has off. Each
//   attack meets a fresh one, warmed by lists and by the documentation page, so that memory is its own.
// - Attackers are a process of their own (attacks/attacker.ts) on the same two cores, so that what an attack costs its sender counts
//   against the service as well. The honest client is this process: 25 lists a second over kept connections and a sign-in
//   every two seconds. Lists are held against 250 ms, sign-ins must succeed.
// - Memory is the resident set: before the attack, and its maximum sampled during the attack.
// - 10,000 connections take as many open files; with fewer (ulimit -n) fewer are tried, which the summary then shows.
import { setTimeout as sleep } from 'node:timers/promises';
import { attacks } from './attacks/attacks.js';
import { startHonest, type Experience } from './attacks/honest.js';
import { startNginx } from './attacks/nginx.js';
import { fillOrders } from './support/orders.js';
import { startApi, startScript, type Process } from './support/processes.js';
import { printColumns, say } from './support/report.js';
import { runBench } from './support/run.js';
import { call, makeAdmin, signIn } from './support/session.js';
import { makeSite, type Site } from './support/site.js';

const [maxGrowthMb, maxP99Ms] = [150, 250];
const seconds = 6;
/** Against attacks the service has its limits; other benchmarks measure without them. */
const asDelivered = { LIMITS_ENABLED: 'true', TRUSTED_PROXIES: '127.0.0.1' };
const wanted = process.argv[2] ?? '';
/** Who attacks signed in is another administrator than the honest one. */
const attackerName = 'attacker';

await runBench(async () => {
  const made = await makeSite('hostile');
  const site = { ...made, env: { ...made.env, ...asDelivered, DOCS_ENABLED: 'true', LOG_LEVEL: 'fatal' } };
  const first = await startApi(site);
  await makeAdmin(first.url, attackerName);
  await first.stop();
  await fillOrders(site.db, 1000);
  const attacker = await startScript('bench/attacks/attacker.js', site);

  const rows = [await row('nobody attacks', site, attacker)];
  for (const name of Object.keys(attacks))
    if (name.includes(wanted)) rows.push(await row(name, site, attacker));
  printColumns(
    `bench:hostile (honest lists meanwhile; ${seconds} s each)`,
    ['', 'memory', 'peak', 'lists', 'p50', 'p99', 'sign-ins', 'slowest', ''],
    rows,
  );
}, 1_200_000);

async function row(name: string, site: Site, attacker: Process): Promise<string[]> {
  const api = await startApi(site);
  const { authorization } = await signIn(api.url);
  await warm(api, authorization);
  const before = api.memory();
  let peak = before;
  const sampling = setInterval(() => (peak = Math.max(peak, api.memory())), 50);
  const nginx = await startNginx(api.url);
  const honest = startHonest(nginx.url, authorization);
  const { hostname: host, port } = new URL(nginx.url);
  const hostile = await signIn(api.url, attackerName);
  const target = { host, port: Number(port), ...hostile, seconds };
  const summary = attacks[name]
    ? await attacker.ask<string>({ attack: name, target })
    : await sleep(seconds * 1000, 'nothing');
  const experience = await honest.stop();
  clearInterval(sampling);
  await nginx.stop();
  await api.stop();
  say(`  ${name}: ${summary} · p99 ${ms(experience.p99)}, ${mb(peak)}`);
  return [
    name,
    mb(before),
    `+${mb(peak - before)}`,
    ...linesOf(experience),
    verdict(holds(peak - before, experience)),
  ];
}

function holds(growth: number, { p99, failed, signedIn, signIns }: Experience): boolean {
  return growth < maxGrowthMb && p99 < maxP99Ms && failed === 0 && signedIn === signIns;
}

function linesOf({ lists, failed, p50, p99, signedIn, signIns, slowestSignInMs }: Experience): string[] {
  const count = failed > 0 ? `${lists}, ${failed} failed` : String(lists);
  return [count, ms(p50), ms(p99), `${signedIn} of ${signIns}`, ms(slowestSignInMs)];
}

/** What every process has done before long. */
async function warm(api: Process, authorization: string): Promise<void> {
  for (const encoding of ['identity', 'gzip', 'br'])
    await (
      await fetch(`${api.url}/docs/swagger-ui-bundle.js`, { headers: { 'accept-encoding': encoding } })
    ).arrayBuffer();
  for (let round = 0; round < 40; round++)
    await Promise.all(
      Array.from({ length: 10 }, () => call(`${api.url}/api/admin/orders`, { authorization })),
    );
  await sleep(1000);
}

function verdict(isHeld: boolean): string {
  return isHeld ? 'held' : 'not held';
}

function mb(value: number): string {
  return `${value.toFixed(0)} MB`;
}

function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}
