// npm run bench -- http: signed-in lists, signing in and idle memory, each held against the least anybody could do.
//
// What is compared, and why that is fair:
// - API, worker and baselines are processes of their own with the same settings (NODE_ENV=production, LOG_LEVEL=warn, pool
//   of 10 connections) over one MariaDB with durable commits and one Redis. The worker runs throughout, as in operation.
// - One load generator (autocannon, 32 connections, in this process) asks all of them. Every answer is checked, one wrong
//   or failed answer ends the benchmark with exit code 1.
// - Service and baseline are warmed up and then take turns, for lists every half second in rotating order; a ratio is the
//   median of the rounds' ratios, so that a slow moment of a shared machine counts for both. "cpu each" is the processor time that the measured process
//   (not the database) spent on one request: it hardly depends on what else the machine does.
// - List of orders: the baseline (baselines/http.ts) is koa + mysql2 with a JWT check, one Redis GET, the same two
//   statements for the page and its order lines, and a SELECT COUNT(*). Before measuring, both answers are compared, field
//   by field.
// - The same list over 1,000,000 orders in 8 month partitions is held against the service's own figure at 1,000 orders in
//   the same 8 months. Totals must be exact, so this shows what counting costs.
// - Signing in is held against bare bcrypt.compare of the same cost, as many at once as the service allows itself (2).
// - Idle memory is the resident set of a fresh API process: a second after it listens.
import { setTimeout as sleep } from 'node:timers/promises';
import { costing, load, type Measured } from './support/load.js';
import { filledSite, mustAgree, signInBoth } from './support/list-site.js';
import { startApi, startBaseline, startWorker, type Process } from './support/processes.js';
import { medianOf, printTable, ratioOf, ratioRow, say, sayRun, type Row } from './support/report.js';
import { runBench } from './support/run.js';
import { adminPassword, type Site } from './support/site.js';

const slices = 24;
const sliceSeconds = 0.5;
const few = 1000;
const many = Number(process.argv.slice(2).find((word) => /^\d+$/.test(word)) ?? 1_000_000);
const orders = '/api/admin/orders?page_size=10';

await runBench(async () => {
  const small = await filledSite('small', few);
  const large = await filledSite('large', many);
  const memory = await idleMemory(small);
  const [api, , , baseline, largeApi, hashes] = await Promise.all([
    startApi(small),
    startWorker(small),
    startWorker(large),
    startBaseline('http', small),
    startApi(large),
    startBaseline('hash', small),
  ]);
  const headers = await signInBoth(api, small);
  const largeHeaders = await signInBoth(largeApi, large);
  await mustAgree([api, baseline], headers, orders);

  const rows = [
    ...(await measureOrders({ api, baseline, headers }, { api: largeApi, headers: largeHeaders })),
    ...(await measureSignIn(api, hashes)),
    ...memory,
  ];
  printTable('bench:http (medians; 32 connections, signing in 6)', rows);
});

interface Target {
  api: Process;
  headers: Record<string, string>;
}

async function measureOrders(small: Target & { baseline: Process }, large: Target): Promise<Row[]> {
  say('\nlist of 10 orders, in slices');
  const uncounted = `${orders}&uncounted`;
  const turns: Record<string, Turn> = {
    own: { ...small, process: small.api, path: orders, total: few },
    bare: { ...small, process: small.baseline, path: orders, total: few },
    uncounted: { ...small, process: small.baseline, path: uncounted, total: 0 },
    large: { ...large, process: large.api, path: orders, total: many },
  };
  for (const { process, headers, path } of Object.values(turns)) await warmUp([process], headers, path);
  const { own, bare, uncounted: floor, large: big } = (await inSlices(turns)) as Slices;
  return [
    ratioRow('list of 10 of 1,000 orders', medianOf(own), ratioOf(own, bare), 'baseline', 1),
    ratioRow('  against one that does not count', medianOf(own), ratioOf(own, floor), 'baseline', 0.75),
    { name: '  its baseline', figures: medianOf(bare), value: '' },
    { name: '  the one that does not count', figures: medianOf(floor), value: '' },
    ratioRow('list of 10 of 1,000,000 orders', medianOf(big), ratioOf(big, own), 'own at 1,000', 0.5),
  ];
}

interface Turn {
  process: Process;
  headers: Record<string, string>;
  path: string;
  total: number;
}

type Slices = Record<'own' | 'bare' | 'uncounted' | 'large', Measured[]>;

/** Each in turn for half a second, beginning with another one each time. */
async function inSlices(turns: Record<string, Turn>): Promise<Record<string, Measured[]>> {
  const names = Object.keys(turns);
  const runs = Object.fromEntries(names.map((name) => [name, [] as Measured[]]));
  for (let slice = 0; slice < slices; slice++) {
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(slice + turn) % names.length] as string;
      const { process, headers, path, total } = turns[name] as Turn;
      const accept = (body: string): boolean => isSuccess(body) && body.includes(`"total":${total}`);
      const run = await costing([process], () =>
        load({ url: process.url + path, headers, duration: sliceSeconds }, accept),
      );
      runs[name]?.push(run);
    }
  }
  for (const name of names) sayRun(name, medianOf(runs[name] as Measured[]));
  return runs;
}

async function warmUp(processes: Process[], headers: Record<string, string>, path: string): Promise<void> {
  for (const { url } of processes) await load({ url: url + path, headers, duration: 3 }, isSuccess);
}

function isSuccess(body: string): boolean {
  return body.startsWith('{"code":200');
}

async function measureSignIn(api: Process, hashes: Process): Promise<Row[]> {
  const signingIn = {
    ...{ url: `${api.url}/api/admin/login`, method: 'POST' as const, connections: 6 },
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password: adminPassword }),
  };
  const isSignedIn = (body: string): boolean => isSuccess(body) && body.includes('"token":"');
  const [own, bare]: [Measured[], Measured[]] = [[], []];
  say('\nsigning in');
  await load({ ...signingIn, duration: 1 }, isSignedIn);
  for (let round = 0; round < 5; round++) {
    own.push(await costing([api], () => load({ ...signingIn, duration: 5 }, isSignedIn)));
    sayRun('service, POST /login', own.at(-1) as Measured);
    bare.push(await costing([hashes], () => hashes.ask<Measured>({ seconds: 5 })));
    sayRun('baseline, bcrypt.compare', bare.at(-1) as Measured);
  }
  return [
    ratioRow('sign-in', medianOf(own), ratioOf(own, bare), 'raw hash rate', 0.9),
    { name: '  its baseline', figures: medianOf(bare), value: '' },
  ];
}

async function idleMemory(site: Site): Promise<Row[]> {
  const api = await startApi(site);
  await sleep(1000);
  const started = api.memory();
  await api.stop();
  return [
    {
      name: 'API memory after its start',
      value: `${started.toFixed(0)} MB`,
      target: '< 160 MB',
      reached: started < 160,
    },
  ];
}
