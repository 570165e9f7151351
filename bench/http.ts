// npm run bench -- http [ORDERS]: signed-in lists, signing in, and the memory of an API after its start.
//
// The list of 10 of 1,000 orders is held against the same list by hand (baselines/http.ts), with its COUNT and without; both
// must answer the same records. The list of 1,000,000 orders (or ORDERS) is held against the service's own of 1,000; both
// are of one month, every total must be exact. Signing in is held against bcrypt.compare, as many at once as the
// service allows itself (2). All processes have the same settings over the same servers, beside a worker as in operation.
import { deepStrictEqual } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import bcrypt from 'bcrypt';
import { config } from '../config/index.js';
import { isSuccess, load, measured, type Measured } from './support/load.js';
import { startApi, startScript, startWorker, type Process } from './support/processes.js';
import { mb, printTable, rate, ratio } from './support/report.js';
import { runBench, takeTurns } from './support/run.js';
import { call, json, signIn, startService, type Headers } from './support/session.js';
import { adminPassword, makeSite } from './support/site.js';

const few = 1000;
const many = Number(process.argv[2] ?? 1_000_000);
const list = '/api/admin/orders?page_size=10';

await runBench(async () => {
  const small = await makeSite('small', few, 1);
  const large = await makeSite('large', many, 1);
  const api = await startApi(small);
  await sleep(1000);
  const memory = api.memory();
  await startWorker(small);
  const headers = await signIn(api.url);
  const { api: largeApi, headers: largeHeaders } = await startService(large);
  const baseline = await startScript('baselines/http', small);
  deepStrictEqual(await call(api.url + list, headers), await call(baseline.url + list, headers));

  const turns = (seconds: number) => ({
    own: listing(api, headers, list, few, seconds),
    bare: listing(baseline, headers, list, few, seconds),
    uncounted: listing(baseline, headers, `${list}&uncounted`, 0, seconds),
    large: listing(largeApi, largeHeaders, list, many, seconds),
  });
  await takeTurns(1, turns(3)); // warms up
  const { own, bare, uncounted, large: big } = await takeTurns(24, turns(0.5));
  const hash = await bcrypt.hash(adminPassword, 10); // as BCRYPT_COST of every site
  const signIns = await takeTurns(5, { own: () => signingIn(api), bare: () => comparing(hash) });
  printTable('bench:http (medians; 32 connections, signing in 6)', {
    'list of 10 of 1,000 orders': rate(own),
    '  against the baseline': ratio(own, bare),
    '  against one that does not count': ratio(own, uncounted),
    [`list of 10 of ${many.toLocaleString('en-US')} orders`]: rate(big),
    '  time of the list, against that of 1,000': ratio(own, big),
    'sign-in': rate(signIns.own),
    '  against the raw hash rate': ratio(signIns.own, signIns.bare),
    'memory of an API after its start': mb(memory),
  });
});

/** Lists for so long, each with that total. */
function listing({ url }: Process, headers: Headers, path: string, total: number, duration: number) {
  const hasTotal = (body: string): boolean => isSuccess(body) && body.includes(`"total":${total}`);
  return (): Promise<Measured> => load({ url: url + path, headers, duration }, hasTotal);
}

function signingIn({ url }: Process): Promise<Measured> {
  const body = JSON.stringify({ username: 'admin', password: adminPassword });
  const request = { url: `${url}/api/admin/login`, method: 'POST' as const, headers: json, body };
  return load({ ...request, connections: 6, duration: 5 }, (answer) => answer.includes('"token":"'));
}

/** Five seconds of comparisons, as many at once as one API process allows. */
async function comparing(hash: string): Promise<Measured> {
  const latencies: number[] = [];
  const startedAt = performance.now();
  const compare = async (): Promise<void> => {
    while (performance.now() - startedAt < 5000) {
      const at = performance.now();
      await bcrypt.compare(adminPassword, hash);
      latencies.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: config.auth.hashConcurrency }, compare));
  return measured(latencies, (performance.now() - startedAt) / 1000);
}
