// npm run bench -- callback: signed payment callbacks, settled end to end, held against one hand-written transaction.
//
// What is compared, and why that is fair:
// - API, one worker (--queues payments,channels,logs,notifications) and the baseline are processes of their own with the same
//   settings (NODE_ENV=production, LOG_LEVEL=warn, pools of 10 connections) over one MariaDB with durable commits and one
//   Redis. One load generator (autocannon in this process) with 32 connections sends to both.
// - Every request carries another payment with its right signature, so every answer means one payment made paid. The
//   service verifies, commits the attempt, queues it, the worker settles it in a transaction of its own, the API answers
//   "paid". Throughput counts until the last payment of the run is paid in the database, whatever the answers said;
//   answers "processing" are counted apart.
// - The baseline (baselines/callback.ts) is koa + mysql2 with one transaction: one commit where the service makes two, because an
//   attempt must outlive a failed settlement, and no queue between two processes.
// - Both take turns after a warm-up, in slices of about half a second whose order changes, on payments of the same tables; the
//   ratio is the median of the rounds' ratios. "cpu each" is the processor time of API and worker together, or of the
//   baseline, for one callback.
// - At the end every payment and order that was called for must be paid, exactly once, else the exit code is 1.
import { connections, costing } from './support/load.js';
import { fillPayments } from './support/payments.js';
import { startApi, startBaseline, startWorker, type Process } from './support/processes.js';
import { median, medianOf, printTable, ratioOf, ratioRow, sayRun } from './support/report.js';
import { runBench } from './support/run.js';
import { Sender, type Settled } from './support/sender.js';
import { call, signIn } from './support/session.js';
import { makeSite } from './support/site.js';

const rounds = 16;
const warmUp = 1000;
const perRun = 400;
const secret = 'bench shared secret';

await runBench(async () => {
  const site = await makeSite('callback');
  const [api, baseline] = [
    await startApi(site),
    await startBaseline('callback', site, { BENCH_SECRET: secret }),
  ];
  const worker = await startWorker(site);
  const method = { type: 'mock', shared_secret: secret };
  const { id } = await call<{ id: number }>(
    `${api.url}/api/admin/payment-methods`,
    await signIn(api.url),
    method,
  );
  const sender = new Sender(site, await fillPayments(site.db, 2 * (warmUp + rounds * perRun), id, secret));

  const [own, bare]: [Settled[], Settled[]] = [[], []];
  for (const { url } of [api, baseline]) await sender.send(url, warmUp);
  for (let round = 0; round < rounds; round++) {
    const turns = [
      async () => own.push(await measure('service', sender, [api, worker])),
      async () => bare.push(await measure('baseline', sender, [baseline])),
    ];
    for (const turn of round % 2 === 0 ? turns : turns.reverse()) await turn();
  }
  await sender.mustAllBePaid();
  const [figures, p99] = [medianOf(own), median(own.map((run) => run.p99))];
  const processing = own.reduce((sum, run) => sum + run.processing, 0);
  printTable(`bench:callback (medians of ${rounds} runs of ${perRun}; ${connections} connections)`, [
    ratioRow('callbacks settled end to end', figures, ratioOf(own, bare), 'baseline', 0.4),
    { name: '  p99 of the answer', value: `${p99.toFixed(0)} ms`, target: '< 250 ms', reached: p99 < 250 },
    { name: '  answered "processing"', value: `${processing} of ${rounds * perRun}` },
    { name: '  its baseline', figures: medianOf(bare), value: '' },
  ]);
});

async function measure(name: string, sender: Sender, processes: [Process, ...Process[]]): Promise<Settled> {
  const run = await costing(processes, () => sender.send(processes[0].url, perRun));
  sayRun(name, run);
  return run;
}
