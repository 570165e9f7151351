// bench:realtime: 2,000 sockets on one API process, 200 dashboard streams, and the blacklist at 10,000 entries.
//
// A broadcast is one POST /notifications; its latency is the time from that call, through a worker, to the frame in each
// socket, read by this process. Queries are the server's own count (Questions) over ten seconds, with one stream and with 200: one
// shared snapshot must make them equal. Memory is the resident set of the API process.
import type { Connection, RowDataPacket } from 'mysql2/promise';
import { setTimeout as sleep } from 'node:timers/promises';
import { IpSet, ipNumber, parseRange } from '../src/lib/values/ip-range.js';
import { openSockets, openStreams, signInMany } from './support/audience.js';
import { startApi, startWorker } from './support/processes.js';
import { printTable, say } from './support/report.js';
import { runBench } from './support/run.js';
import { call, signIn } from './support/session.js';
import { makeSite } from './support/site.js';

const [administrators, socketsEach, broadcasts, streams, entries] = [200, 10, 20, 200, 10_000];
const measuredSeconds = 10;
/** A slow machine makes fewer broadcasts. */
const maxBroadcastMs = 40_000;
/** A frame that takes longer counts as lost. */
const maxFrameMs = 10_000;

await runBench(async () => {
  const site = await makeSite('realtime');
  const api = await startApi({ ...site, env: { ...site.env, BCRYPT_COST: '4' } });
  await startWorker(site);
  const boss = await signIn(api.url);
  const admins = await signInMany(api.url, boss, administrators);
  say(`${administrators} administrators have signed in`);

  await sleep(3000);
  const before = api.memory();
  const sockets = await openSockets(api.url, admins, socketsEach);
  await sleep(3000);
  const perSocket = ((api.memory() - before) * 1e6) / sockets.length;
  say(`${sockets.length} sockets are open`);

  const latencies: number[] = [];
  const broadcastUntil = performance.now() + maxBroadcastMs;
  let rounds = 0;
  while (rounds < broadcasts && performance.now() < broadcastUntil) {
    const round = rounds++;
    const started = performance.now();
    const received = Promise.all(
      sockets.map(
        (socket) =>
          new Promise<void>((resolve) =>
            socket.once('message', () => {
              latencies.push(performance.now() - started);
              resolve();
            }),
          ),
      ),
    );
    await call(`${api.url}/api/admin/notifications`, boss, {
      title: `broadcast ${round}`,
      content: 'to everybody',
    });
    await Promise.race([received, sleep(maxFrameMs)]);
  }
  for (const socket of sockets) socket.terminate();
  latencies.sort((one, other) => one - other);
  const delivered = latencies.length;
  const p99 = latencies[Math.floor(delivered * 0.99)] as number;

  const path = `${api.url}/api/admin/dashboard/stream?interval=2`;
  const single = await queriesWhile(site.db, path, boss, 1);
  const many = await queriesWhile(site.db, path, boss, streams);
  const checkMicros = blacklistCheck();

  printTable('bench:realtime', [
    {
      name: `broadcasts to ${sockets.length} sockets, delivered`,
      value: `${delivered} of ${rounds * sockets.length}`,
      target: 'all',
      reached: delivered === rounds * sockets.length,
    },
    { name: '  p50 of a frame', value: `${(latencies[delivered >> 1] as number).toFixed(0)} ms` },
    { name: '  p99 of a frame', value: `${p99.toFixed(0)} ms`, target: '< 500 ms', reached: p99 < 500 },
    { name: 'memory per socket', value: `${(perSocket / 1000).toFixed(1)} kB` },
    { name: 'queries per second with 1 dashboard stream', value: single.toFixed(1) },
    {
      name: `queries per second with ${streams}`,
      value: many.toFixed(1),
      target: 'as with 1',
      reached: many < single * 1.5 + 1,
    },
    {
      name: `blacklist check at ${entries.toLocaleString('en-US')} entries`,
      value: `${checkMicros.toFixed(2)} µs`,
      target: '< 100 µs',
      reached: checkMicros < 100,
    },
  ]);
});

async function queriesWhile(
  db: Connection,
  path: string,
  headers: Record<string, string>,
  count: number,
): Promise<number> {
  const close = await openStreams(path, headers, count);
  await sleep(2000);
  const started = await questions(db);
  await sleep(measuredSeconds * 1000);
  const asked = (await questions(db)) - started;
  close();
  await sleep(1000);
  return asked / measuredSeconds;
}

async function questions(db: Connection): Promise<number> {
  const [rows] = await db.query<RowDataPacket[]>("SHOW GLOBAL STATUS LIKE 'Questions'");
  return Number((rows[0] as { Value: string }).Value);
}

// What every guarded request pays: reading the address and asking the set, addresses spread over hits and misses.
function blacklistCheck(): number {
  const ranges = Array.from({ length: entries }, (_, index) => {
    const [high, low] = [index >> 8, index & 255];
    return parseRange(index % 2 ? `10.${high}.${low}.0/25` : `2001:db8:${index.toString(16)}::/48`);
  });
  const set = new IpSet(ranges.filter((range) => range !== undefined));
  const addresses = Array.from(
    { length: 1000 },
    (_, index) => `10.${index % 40}.${index % 256}.${index % 251}`,
  );
  const checks = 200_000;
  const started = performance.now();
  let hits = 0;
  for (let index = 0; index < checks; index++) {
    if (set.has(ipNumber(addresses[index % addresses.length] as string) as bigint)) hits++;
  }
  if (hits === 0 || hits === checks) throw new Error('the addresses of the blacklist check do not spread');
  return ((performance.now() - started) * 1000) / checks;
}
