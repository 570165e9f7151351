// A backup while the service works, put back on another server and folder, up to a point in time; and what is refused.
import '../support/environment.js';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { MonthSum } from '../../src/models/figures/consistency.js';
import type { Manifest } from '../../src/api/cli/backup/folder.js';
import { Client } from '../support/client.js';
import { startOwnDatabase, type OwnDatabase } from '../support/database.js';
import { makeMethod, makePayment, makeUser, mockCallback } from '../support/factories.js';
import { png, textOf } from '../support/files.js';
import {
  killProcesses,
  runCli,
  startApi,
  startWorkerProcess,
  type TestProcess,
} from '../support/processes.js';
import { startOwnRedis, type OwnRedis } from '../support/redis.js';
import { until } from '../support/until.js';

const folder = mkdtempSync(join(tmpdir(), 'backups-'));
const backups = join(folder, 'backups');
const name = process.env.DB_NAME ?? '';

let [live, other]: OwnDatabase[] = [];
let redis: OwnRedis;
let api: TestProcess;
let admin: Client;

/** The server that will be lost, with a binary log, and the machine that takes its place. */
const machines = { live: {}, other: {} } as Record<'live' | 'other', Record<string, string>>;

interface Report {
  well: boolean;
  rows_without_file: string[];
  files_without_row: string[];
  contradictions: { what: string; count: number; first: string[] }[];
  months: MonthSum[];
}

test.before(async () => {
  [live, other, redis] = await Promise.all([
    startOwnDatabase(['--log-bin=mariadb-bin', '--server-id=1', '--binlog-format=MIXED']),
    startOwnDatabase(),
    startOwnRedis(),
  ]);
  const storage = (machine: string) => ({ STORAGE_ROOT: join(folder, machine) });
  machines.live = { ...live.env, ...redis.env, ...storage('live') };
  machines.other = { ...other.env, ...redis.env, ...storage('other'), REDIS_PREFIX: 'other-machine' };
  const worker = startWorkerProcess(machines.live);
  api = await startApi(machines.live);
  await worker;
  admin = await new Client(api.url).signIn();
});

test.after.always(async () => {
  await killProcesses();
  await Promise.all([live?.remove(), other?.remove(), redis?.remove()]);
  rmSync(folder, { recursive: true, force: true });
});

async function verify(machine: 'live' | 'other'): Promise<Report> {
  return JSON.parse((await runCli(['--json', 'verify'], machines[machine])).output) as Report;
}

async function backUp(...more: string[]): Promise<{ path: string; manifest: Manifest; removed: number }> {
  const { output, errors, code } = await runCli(['--json', 'backup', backups, ...more], {
    ...machines.live,
    ...operator,
  });
  if (code !== 0) throw new Error(errors || output);
  return JSON.parse(output) as { path: string; manifest: Manifest; removed: number };
}

/** An account that may replay the binary log; the service's own may not. */
const operator = { DB_USER: 'tester' };

const restore = (path: string, ...more: string[]) =>
  runCli(['--yes', 'restore', path, ...more], { ...machines.other, ...operator });

/** A paid order, a booked balance and a file. */
async function work(methodId: number): Promise<number> {
  const payment = await makePayment(admin, methodId);
  await admin.request('POST', '//api/payment/notify/mock', { body: mockCallback(payment) });
  await until(async () => (await admin.get(`/payments/${payment.payment_no}`)).data.status === 'paid');
  const user = await makeUser(admin);
  await admin.post(`/users/${user.id}/update-balance`, {
    type: 'income',
    amount: '10.50',
    description: 'work',
  });
  const { data } = await admin.upload('/attachments/upload', png, { filename: 'work.png' });
  return (data as { id: number }).id;
}

/** What the other machine answers for these files, once it serves. */
async function downloads(ids: readonly number[]): Promise<{ statuses: number[]; signedIn: Client }> {
  const served = await startApi(machines.other);
  const signedIn = await new Client(served.url).signIn();
  const statuses: number[] = [];
  for (const id of ids) statuses.push((await signedIn.download(`/attachments/${id}/download`)).status);
  await served.stop();
  return { statuses, signedIn };
}

test.serial('a backup under load restores completely on another machine', async (t) => {
  const method = await makeMethod(admin);
  const ids = [await work(method.id), await work(method.id)];
  let isDone = false;
  const busy = (async () => {
    while (!isDone) ids.push(await work(method.id));
  })();
  const { path, manifest } = await backUp();
  isDone = true;
  await busy;
  t.truthy(manifest.database.binlog);
  t.true((manifest.files?.count ?? 0) >= 2);
  t.is((await runCli(['verify', '--backup', path], machines.live)).code, 0);

  const { output, errors, code } = await restore(path);
  t.is(code, 0, errors);
  t.log(output);
  const report = await verify('other');
  t.true(report.well, JSON.stringify(report));
  t.true(report.months.some(({ of, status }) => of === 'payments' && status === 'paid'));
  t.deepEqual((await downloads(ids.slice(0, 2))).statuses, [200, 200]);
});

test.serial('the binary log restores changes up to a given second', async (t) => {
  const method = await makeMethod(admin);
  const before = await work(method.id);
  const { path } = await backUp();
  const inTime = await work(method.id);
  const [clock] = await live!.select<{ now: string }>(
    "SELECT DATE_FORMAT(UTC_TIMESTAMP() + INTERVAL 1 SECOND, '%Y-%m-%dT%TZ') AS now",
  );
  const end = clock?.now ?? '';
  await until(() => Date.now() > Date.parse(end) + 1000);
  const late = await work(method.id);
  const logs = ['--binlogs', join(live!.folder, 'data'), '--until', end];
  const { code, errors, output } = await restore(path, '--overwrite', ...logs);
  t.is(code, 0, errors);
  t.log(output);
  const report = await verify('other');
  t.deepEqual(report.contradictions, []);
  t.is(report.rows_without_file.length, 1, 'the file that came after the backup');
  t.deepEqual((await downloads([before, inTime, late])).statuses, [200, 404, 404]);
  const sum = (of: Report) =>
    of.months.find((one) => one.of === 'orders' && one.status === 'paid')?.count ?? 0;
  t.is(sum(report), sum(await verify('live')) - 1);
});

test.serial('a file is copied once for all backups that name it', async (t) => {
  await backUp();
  const poolOf = () => readdirSync(join(backups, 'files'), { recursive: true, withFileTypes: true });
  const count = () => poolOf().filter((entry) => entry.isFile()).length;
  const [before, { data }] = [
    count(),
    await admin.upload('/attachments/upload', textOf(1000), { filename: 'a.txt' }),
  ];
  const { path } = await backUp();
  t.is(count(), before + 1);
  t.is((await admin.delete(`/attachments/${(data as { id: number }).id}`)).status, 200);
  const { removed } = await backUp('--keep', '1');
  t.true(removed >= 3);
  t.is(count(), before);
  t.throws(() => readdirSync(path));
});

test.serial('a backup that was changed or has another key is refused', async (t) => {
  const { path, manifest } = await backUp();
  const before = await verify('other');
  t.regex((await restore(path)).errors, /is not empty: restore into an empty database, or give --overwrite/);
  const wrong = await runCli(['--yes', 'restore', path, '--overwrite'], {
    ...machines.other,
    APP_KEY: 'another-key-that-is-long-enough-for-everything',
  });
  t.is(wrong.code, 1);
  t.regex(wrong.errors, /^the backup was made under another APP_KEY, [^\n]+\n$/);
  const dump = join(path, manifest.database.dump.name);
  const whole = readFileSync(dump);
  appendFileSync(dump, 'x');
  const damaged = await restore(path, '--overwrite');
  t.is(damaged.code, 1);
  t.regex(damaged.errors, /the backup is damaged: database\.sql\.gz is not what was written/);
  writeFileSync(dump, whole);
  t.deepEqual(await verify('other'), before);
});

test.serial('a restore into a database in use is refused', async (t) => {
  const { path } = await backUp();
  const { code, errors } = await runCli(['--yes', 'restore', path, '--overwrite'], machines.live);
  t.is(code, 1);
  t.regex(errors, /connections use test_\w+: stop the service first/);
  t.is((await admin.get('/orders')).status, 200);
});

test.serial('verify reports missing, extra and changed files', async (t) => {
  t.true((await verify('live')).well);
  const [file] = await live!.select<{ storage_key: string }>(
    `SELECT storage_key FROM ${name}.attachments ORDER BY id LIMIT 1`,
  );
  const key = file?.storage_key ?? '';
  rmSync(join(machines.live.STORAGE_ROOT ?? '', key));
  const stray = 'attachments/2026-01/STRAY';
  mkdirSync(join(machines.live.STORAGE_ROOT ?? '', 'attachments/2026-01'), { recursive: true });
  writeFileSync(join(machines.live.STORAGE_ROOT ?? '', stray), 'stray');
  await live!.select(`UPDATE ${name}.users SET balance = balance + 1 LIMIT 1`);
  await live!.select(`UPDATE ${name}.payments SET amount = amount + 1 WHERE status = 'paid' LIMIT 1`);
  const report = await verify('live');
  t.false(report.well);
  t.deepEqual(report.rows_without_file, [key]);
  t.deepEqual(report.files_without_row, [stray]);
  t.deepEqual(
    report.contradictions.map(({ what, count }) => [what, count]),
    [
      ['paid orders whose payment is not there, not paid, or of another order or amount', 1],
      ['users whose balance is not the sum of its changes', 1],
    ],
  );
});
