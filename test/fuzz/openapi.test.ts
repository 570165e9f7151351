// npx ava test/fuzz/openapi.test.ts [-- --requests 100000 --seed 1 --only 4711]: requests made from the served OpenAPI document, most of them
// wrong in some place, to an API and a worker that run as in production. Three callers send them from many addresses: a super
// administrator, one with a few rights and nobody. The same seed makes the same requests, but for numbers that the service
// gives; --only repeats a single one on a fresh service. The main suite sends 500: each operation has its turn twice.
//
// The callers themselves are spared: requests never name them, their roles or the permissions of the service as what to
// change, nor the addresses they come from as what to block. What a caller may do to itself (sign out, spoil its password)
// it does, and continues as a new administrator.
import '../support/settings/environment.js';
import { adminPassword, production } from './production.js';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import test from 'ava';
import { closeDatabase, db } from '../../src/lib/database/db.js';
import { openApiDocument } from '../../src/api/declare/openapi.js';
import { routes } from '../../src/api/routes.js';
import { Client } from '../support/client.js';
import { killProcesses, startApi, startWorkerProcess, type TestProcess } from '../support/processes.js';
import { until } from '../support/until.js';
import { brokenInvariants, depth, problemsOf } from './checks.js';
import { Random } from './random.js';
import { operationsOf, requestOf, type FuzzRequest, type Operation } from './requests.js';
import { sendText } from '../support/raw-request.js';
import { hangUp, malformed, send, type FuzzAnswer } from './send.js';
import { World } from './world.js';

const { values: given } = parseArgs({
  args: process.argv.slice(2),
  options: { requests: { type: 'string' }, seed: { type: 'string' }, only: { type: 'string' } },
  strict: false,
});
const total = Number(given.requests ?? (process.env.TEST_SUITE ? 100_000 : 500));
const seed = Number(given.seed ?? Date.now() % 1_000_000);
const only = given.only === undefined ? undefined : Number(given.only);
/** Records are made anew after that many requests. */
const round = 1000;
const atOnce = 20;
const maxShown = 25;

let api: TestProcess;
let worker: TestProcess;
let world: World;

test.before(async () => {
  api = await startApi(production);
  worker = await startWorkerProcess(production);
  world = await World.make(await new Client(api.url).signIn({ username: 'admin', password: adminPassword }));
});

test.after.always(async () => {
  hangUp();
  await killProcesses();
  await db.query(`DROP DATABASE IF EXISTS \`${process.env.DB_NAME}\``);
  await closeDatabase();
});

class Findings {
  readonly all: { kind: string; detail: string; request: string }[] = [];

  /** Printed at once, the first ones in full: a run is long. */
  add(kind: string, detail: string, request = ''): void {
    this.all.push({ kind, detail, request });
    if (this.all.length <= maxShown) console.log(`\n${kind}: ${detail}\n  ${request}`);
  }

  count(kind: string): number {
    return this.all.filter((finding) => finding.kind === kind).length;
  }
}

interface Tally {
  statuses: Map<number, number>;
  findings: Findings;
  /** Trace ids of callbacks and balancers that found the service too slow. */
  excused: Set<string>;
  slowest: { ms: number; what: string };
  refused: Map<string, number>;
}

test('every request derived from the document is answered as documented', async (t) => {
  t.timeout(7_200_000);
  const document = (await (await fetch(`${api.url}/openapi.json`)).json()) as Parameters<
    typeof operationsOf
  >[0];
  t.deepEqual(document, JSON.parse(JSON.stringify(await openApiDocument(routes))));
  const operations = operationsOf(document);
  const tally: Tally = {
    statuses: new Map(),
    findings: new Findings(),
    excused: new Set(),
    slowest: { ms: 0, what: '' },
    refused: new Map(),
  };
  const startedAt = performance.now();
  console.log(`fuzz: ${only === undefined ? `${total} requests` : `request ${only}`}, --seed ${seed}`);

  let memory: string | undefined;
  for (let first = 0; first < total; first += round) {
    if (only !== undefined && (only < first || only >= first + round)) continue;
    await world.refresh();
    await sendRound(
      operations,
      only ?? first,
      only === undefined ? Math.min(first + round, total) : only + 1,
      tally,
    );
    if (first % (10 * round) === 0) {
      memory ??= memoryOf();
      console.log(`  ${first + round} sent, ${tally.findings.all.length} findings, memory ${memoryOf()}`);
    }
  }
  const seconds = (performance.now() - startedAt) / 1000;

  await until(async () => (await brokenInvariants()).length === 0, 60_000, 1000).catch(() => undefined);
  for (const broken of await brokenInvariants()) tally.findings.add('invariant', broken);
  const exits = [api, worker].filter(
    ({ child }) => child.exitCode !== null || child.signalCode !== null,
  ).length;
  const { errors, warnings } = linesOf(api.output() + worker.output(), tally.excused);
  for (const line of errors) tally.findings.add('error line', line.slice(0, 2000));

  console.log(
    [
      '',
      `requests               ${sum(tally.statuses)} (${only === undefined ? '' : `only ${only}, `}--seed ${seed})`,
      `operations             ${new Set(operations).size}`,
      `answers by status      ${listed(tally.statuses)}`,
      `refusals               ${listed(tally.refused)}`,
      `unexpected 5xx         ${tally.findings.count('unexpected 5xx')}`,
      `503, sent again        ${tally.excused.size}`,
      `schema violations      ${tally.findings.count('schema violation')}`,
      `disclosures            ${tally.findings.count('disclosure')}`,
      `rights overstepped     ${tally.findings.count('access')}`,
      `without an answer      ${tally.findings.count('no answer')}`,
      `exits                  ${exits}`,
      `error lines            ${errors.length}`,
      `broken invariants      ${tally.findings.count('invariant')}`,
      `warnings               ${listed(warnings)}`,
      `left in the database   ${JSON.stringify(await depth())}`,
      `memory                 ${memory} → ${memoryOf()}`,
      `worst answer           ${tally.slowest.ms.toFixed(0)} ms (${tally.slowest.what})`,
      `requests a second      ${(sum(tally.statuses) / seconds).toFixed(0)}`,
    ].join('\n'),
  );
  t.is(exits, 0);
  t.is(tally.findings.all.length, 0);
});

async function sendRound(operations: Operation[], from: number, to: number, tally: Tally): Promise<void> {
  // All are made before the first is sent, so that none depends on how quickly another was answered.
  let next = from;
  const line = async (): Promise<void> => {
    while (next < to) {
      const index = next++;
      const r = new Random(seed, index);
      if (r.chance(0.005)) await sendMalformed(index, r.pick(malformed), tally);
      else await sendOne(requestOf(index, operations, world, r), tally);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, line));
}

async function sendOne(request: FuzzRequest, tally: Tally): Promise<void> {
  const actor = world.actors[request.actor];
  const token = actor.authorization;
  let answer: FuzzAnswer;
  try {
    answer = await send(api.url, request);
    // A callback has 2 s and readiness fewer, whatever else the machine does; a caller repeats after a 503, and so do we, once.
    if (answer.status === 503 && /^\/(readyz|api\/payment\/notify\/)/.test(request.path)) {
      tally.excused.add(String(answer.headers['x-trace-id']));
      answer = await send(api.url, request);
    }
  } catch (error) {
    tally.findings.add('no answer', String(error), shown(request));
    return;
  }
  count(tally.statuses, answer.status);
  if (answer.ms > tally.slowest.ms) {
    const what = `${request.method} ${request.path.split('?')[0]?.slice(0, 60)}, request ${request.index}`;
    tally.slowest = { ms: answer.ms, what };
  }
  if (answer.status >= 400)
    count(tally.refused, /"error_code":"(\w+)"/.exec(answer.body.toString())?.[1] ?? 'bare');
  for (const [kind, detail] of problemsOf(request, answer, actor)) {
    tally.findings.add(kind, detail, shown(request));
  }
  if (actor.name !== 'anonymous' && !request.isForged && answer.status === 401) await actor.renew(token);
}

async function sendMalformed(index: number, text: string, tally: Tally): Promise<void> {
  const answer = await sendText(api.url, text, '127.1.0.1').catch((error) => `no answer: ${String(error)}`);
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);
  count(tally.statuses, status);
  if (status >= 500 || answer.startsWith('no answer'))
    tally.findings.add('no answer', answer, `request ${index}: ${JSON.stringify(text.slice(0, 200))}`);
}

/** The request as it can be sent again by hand, without the token. */
function shown({ index, actor, method, path, headers, body }: FuzzRequest): string {
  const { Authorization: _, ...others } = headers;
  const text = body?.toString();
  const isText = text !== undefined && Buffer.from(text).equals(body as Buffer);
  const content = body && {
    [isText ? 'body' : 'base64']: (isText ? text : body.toString('base64')).slice(0, 1500),
  };
  return JSON.stringify({ index, actor, method, path: path.slice(0, 500), headers: others, ...content });
}

function linesOf(output: string, excused: Set<string>): { errors: string[]; warnings: Map<string, number> } {
  const errors: string[] = [];
  const warnings = new Map<string, number>();
  for (const line of output.split('\n').filter(Boolean)) {
    const { level, msg, trace_id = '' } = parsed(line);
    if (level === 'warn') count(warnings, msg);
    else if (level !== 'info' && !excused.has(trace_id)) errors.push(line);
  }
  return { errors, warnings };
}

// What is no line of the log was written by the runtime: a crash, an unhandled rejection, a warning of Node.js.
function parsed(line: string): { level: string; msg: string; trace_id?: string } {
  try {
    return JSON.parse(line) as ReturnType<typeof parsed>;
  } catch {
    return { level: 'unknown', msg: line };
  }
}

function memoryOf(): string {
  const megabytes = ({ child }: TestProcess): string => {
    const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'));
    return `${Math.round((Number(line?.[1]) * 1024) / 1e6)} MB`;
  };
  return `API ${megabytes(api)}, worker ${megabytes(worker)}`;
}

function count<T>(counts: Map<T, number>, key: T): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

const sum = (counts: Map<unknown, number>): number =>
  [...counts.values()].reduce((one, other) => one + other, 0);

const listed = (counts: Map<unknown, number>): string =>
  [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([key, times]) => `${String(key)}: ${times}`)
    .join(' · ') || 'none';
