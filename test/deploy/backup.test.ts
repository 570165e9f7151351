// deploy/backup.sh and restore.sh: a backup while the service works, everything lost, all of it back on other servers.
import '../support/settings/environment.js';
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import test from 'ava';
import { projectRoot } from '../../config/environment.js';
import type { MonthSum } from '../../src/models/figures/consistency.js';
import { Client } from '../support/client.js';
import { startOwnDatabase, type OwnDatabase } from '../support/servers/database.js';
import { makeMethod, makeUser } from '../support/factories.js';
import { paidPayment } from '../support/refunds.js';
import { programPath } from '../support/servers/faults.js';
import { png, sha256 } from '../support/files.js';
import { killProcesses, runCli, startApi, startWorkerProcess } from '../support/processes.js';
import { startOwnRedis, type OwnRedis } from '../support/servers/redis.js';
import { until } from '../support/until.js';

const folder = mkdtempSync(join(tmpdir(), 'backups-'));
const name = process.env.DB_NAME ?? '';

let [lost, fresh]: OwnDatabase[] = [];
let redis: OwnRedis;
let env: { lost: Record<string, string>; fresh: Record<string, string> };

interface Report {
  well: boolean;
  rows_without_file: string[];
  files_without_row: string[];
  contradictions: { what: string; count: number }[];
  months: MonthSum[];
}

test.before(async () => {
  // The other server has another default, and a binary log.
  const other = ['--character-set-server=latin1', '--log-bin=binary-log', '--server-id=1'];
  [lost, fresh, redis] = await Promise.all([startOwnDatabase(), startOwnDatabase(other), startOwnRedis()]);
  env = {
    lost: { ...lost.env, ...redis.env, STORAGE_ROOT: join(folder, 'lost') },
    fresh: { ...fresh.env, ...redis.env, STORAGE_ROOT: join(folder, 'fresh'), REDIS_PREFIX: 'fresh' },
  };
});

test.after.always(async () => {
  await killProcesses();
  await Promise.all([lost?.remove(), fresh?.remove(), redis?.remove()]);
  rmSync(folder, { recursive: true, force: true });
});

async function run(script: string, args: string[], settings: Record<string, string>): Promise<string> {
  const program = resolve(projectRoot, 'deploy', script);
  const { stdout } = await promisify(execFile)(program, args, { env: { ...process.env, ...settings } });
  return stdout.trim();
}

/** Files that were uploaded during the dump have no row: verify names them. */
async function restore(args: string[], settings: Record<string, string>): Promise<void> {
  await run('restore.sh', args, settings).catch((error: unknown) => {
    if (!/files without row/.test(String((error as { stdout?: unknown }).stdout))) throw error;
  });
}

async function verify(of: Record<string, string>): Promise<Report> {
  const { output, errors } = await runCli(['--json', 'verify'], of);
  if (errors) throw new Error(errors);
  return JSON.parse(output) as Report;
}

/** A paid order, a booked balance and a file. @returns the id of the file */
async function work(admin: Client, methodId: number): Promise<number> {
  const payment = await paidPayment(admin, methodId);
  await until(async () => (await admin.get(`/payments/${payment.payment_no}`)).data.status === 'paid');
  const user = await makeUser(admin);
  const balance = { type: 'income', amount: '10.50', description: 'work' };
  await admin.post(`/users/${user.id}/update-balance`, balance);
  return (await admin.upload('/attachments/upload', png, { filename: 'work.png' })).data.id as number;
}

test.serial('a backup under load brings everything back after a loss', async (t) => {
  const [api] = await Promise.all([startApi(env.lost), startWorkerProcess(env.lost)]);
  const admin = await new Client(api.url).signIn();
  const method = await makeMethod(admin);
  const ids = [await work(admin, method.id), await work(admin, method.id)];
  const backups = join(folder, 'back ups');
  const neighbour = join(folder, 'back');
  mkdirSync(neighbour);
  await run('backup.sh', [backups, '1'], env.lost);
  let isDone = false;
  const busy = (async () => {
    while (!isDone) await work(admin, method.id);
  })();
  const path = await run('backup.sh', [backups, '1'], env.lost);
  isDone = true;
  await busy;
  t.deepEqual(readdirSync(backups), [basename(path)], 'one backup remains');
  t.true(existsSync(neighbour), 'nothing else is removed');
  await killProcesses();
  rmSync(join(folder, 'lost'), { recursive: true });
  await lost?.remove();

  await restore([path], env.fresh);
  const report = await verify(env.fresh);
  t.deepEqual([report.rows_without_file, report.contradictions], [[], []]);
  t.true(report.months.some(({ of, status }) => of === 'payments' && status === 'paid'));
  const [made] = await fresh!.select<{ collation: string }>(
    'SELECT default_collation_name AS collation FROM information_schema.schemata WHERE schema_name = ?',
    [name],
  );
  t.is(made?.collation, 'utf8mb4_unicode_ci');
  await t.throwsAsync(run('restore.sh', [path], env.fresh), { message: /is not empty/ });
  await t.throwsAsync(run('restore.sh', [path, '2026-11-22 14:05', folder], env.fresh), {
    message: /made without DUMP_OPTIONS/,
  });

  const served = await startApi(env.fresh);
  const signedIn = await new Client(served.url).signIn();
  for (const id of ids) t.deepEqual((await signedIn.download(`/attachments/${id}/download`)).bytes, png);
  await served.stop();
});

test.serial('a restore to a point in time has every row from before it and none from after', async (t) => {
  const [api] = await Promise.all([startApi(env.fresh), startWorkerProcess(env.fresh)]);
  const admin = await new Client(api.url).signIn();
  const method = await makeMethod(admin);
  const options = { DUMP_OPTIONS: '--master-data=2' };
  const path = await run('backup.sh', [join(folder, 'to a point')], { ...env.fresh, ...options });
  await work(admin, method.id);
  await fresh!.run('CREATE DATABASE neighbour', 'CREATE TABLE neighbour.rows_of_others (id INT PRIMARY KEY)');
  await work(admin, method.id);
  await killProcesses();
  const before = await checksums();
  const last = await clock();
  await until(async () => (await clock()) !== last);
  const point = await clock();
  await fresh!.run(`DROP DATABASE ${name}`);

  const administrator = { ...env.fresh, DB_USER: 'tester', TZ: 'Asia/Shanghai' };
  await t.throwsAsync(run('restore.sh', [path, point, folder], administrator), {
    message: /has no binary-log\./,
  });
  await restore([path, point, fresh!.data], administrator);
  t.deepEqual(await checksums(), before);
});

/** The second of the server, in UTC. */
async function clock(): Promise<string> {
  const [now] = await fresh!.select<{ at: string }>('SELECT CAST(UTC_TIMESTAMP() AS CHAR) AS at');
  return now?.at ?? '';
}

/** Of each table but that of claims, which the restore takes, too. */
async function checksums(): Promise<unknown> {
  const tables = await fresh!.select<{ name: string }>(
    "SELECT CONCAT(table_schema, '.', table_name) AS name FROM information_schema.tables WHERE table_schema = ?",
    [name],
  );
  const names = tables.filter((table) => table.name !== `${name}.claims`).map((table) => table.name);
  return fresh!.select(`CHECKSUM TABLE ${names.join(', ')}`);
}

test.serial('a backup that fails leaves nothing, and keeping none is refused', async (t) => {
  const backups = join(folder, 'failed');
  await t.throwsAsync(run('backup.sh', [backups], { ...env.fresh, DB_PASSWORD: 'wrong' }), {
    message: /Access denied/,
  });
  await t.throwsAsync(run('backup.sh', [backups, '0'], env.fresh), { message: /a number from 1, not "0"/ });
  t.deepEqual(readdirSync(backups), []);
});

test.serial('a restore that fails says why without printing rows', async (t) => {
  const path = mkdtempSync(join(folder, 'broken-'));
  mkdirSync(join(path, 'files'));
  const dump = gzipSync('INSERT INTO missing VALUES (1), (424242);\n');
  writeFileSync(join(path, 'database.sql.gz'), dump);
  writeFileSync(join(path, 'SHA256'), `${sha256(dump)}  database.sql.gz\n`);
  const settings = { ...env.fresh, DB_NAME: `${name}_broken`, STORAGE_ROOT: join(folder, 'broken') };
  const { message } = await t.throwsAsync(run('restore.sh', [path], settings));
  t.regex(message, /ERROR 1146 .*missing' doesn't exist/);
  t.notRegex(message, /424242/);

  writeFileSync(join(path, 'database.sql.gz'), gzipSync('SELECT 1;\n'));
  const damaged = { ...settings, DB_NAME: `${name}_damaged`, STORAGE_ROOT: join(folder, 'damaged') };
  const refused = await t.throwsAsync(run('restore.sh', [path], damaged));
  t.regex(refused.message, /sha256sum: /);
  t.deepEqual(await fresh!.select(`SHOW DATABASES LIKE '${damaged.DB_NAME}'`), []);
  t.false(existsSync(damaged.STORAGE_ROOT));
});

test.serial('a backup of a bucket has what is in it and links what the one before has', async (t) => {
  // Stands in for the AWS client: the bucket is a folder.
  const programs = mkdtempSync(join(folder, 'aws-'));
  const bucket = mkdtempSync(join(folder, 'bucket-'));
  const script = `#!/bin/bash\nrsync -rt $(printf '%s\\n' "$@" | grep -x -e --delete) '${bucket}/' "\${@: -1}"\n`;
  writeFileSync(join(programs, 'aws'), script, { mode: 0o755 });
  const S3 = { S3_BUCKET: 'files', S3_ACCESS_KEY_ID: 'a', S3_SECRET_ACCESS_KEY: 'b' };
  const settings = { ...env.fresh, STORAGE_DRIVER: 's3', ...S3, PATH: `${programs}:${process.env.PATH}` };
  const backups = join(folder, 'of a bucket');
  for (const key of ['kept', 'deleted']) writeFileSync(join(bucket, key), key);
  const first = await run('backup.sh', [backups], settings);
  rmSync(join(bucket, 'deleted'));
  writeFileSync(join(bucket, 'new'), 'new');
  const second = await run('backup.sh', [backups], settings);
  t.deepEqual(readdirSync(backups), [basename(first), basename(second)]);
  t.deepEqual(readdirSync(join(first, 'files')), ['deleted', 'kept']);
  t.deepEqual(readdirSync(join(second, 'files')), ['kept', 'new']);
  const [one, other] = [first, second].map((path) => statSync(join(path, 'files/kept')).ino);
  t.is(one, other);
});

test.serial('a client of the database that is not installed is named', async (t) => {
  const programs = mkdtempSync(join(folder, 'programs-'));
  for (const program of ['cat', 'date', 'dirname', 'mktemp', 'realpath', 'rm'])
    symlinkSync(programPath(program), join(programs, program));
  symlinkSync(process.execPath, join(programs, 'node'));
  const backups = join(folder, 'without');
  mkdirSync(backups);
  const settings = { ...env.fresh, PATH: programs };
  await t.throwsAsync(run('backup.sh', [backups], settings), {
    message: /neither mariadb-dump nor mysqldump/,
  });
  await t.throwsAsync(run('restore.sh', [backups], settings), { message: /neither mariadb nor mysql / });
  t.deepEqual(readdirSync(backups), []);
});

test.serial('a backup takes the settings as the service does', async (t) => {
  const { DB_HOST, DB_PORT, DB_USER, DB_PASSWORD = '' } = env.fresh;
  const address = `${DB_HOST}:${DB_PORT}/${process.env.DB_NAME}`;
  const DATABASE_URL = `mysql://${DB_USER}:${encodeURIComponent(DB_PASSWORD)}@${address}`;
  const settings = { ...env.fresh, DB_HOST: '', DB_NAME: '', DB_USER: '', DB_PASSWORD: '', DATABASE_URL };
  const path = await run('backup.sh', [join(folder, 'by-url')], settings);
  const dump = gunzipSync(readFileSync(join(path, 'database.sql.gz'))).toString();
  t.regex(dump, /CREATE TABLE `payments`/);
  for (const part of [path, join(path, 'database.sql.gz'), join(path, 'files')])
    t.is(statSync(part).mode & 0o077, 0, `others can read ${part}`);
});

test.serial('verify reports missing, extra and changed files', async (t) => {
  const api = await startApi(env.fresh);
  const admin = await new Client(api.url).signIn();
  await admin.upload('/attachments/upload', png, { filename: 'gone.png' });
  const before = await verify(env.fresh);
  const [file] = await fresh!.select<{ storage_key: string }>(
    `SELECT storage_key FROM ${name}.attachments ORDER BY id DESC LIMIT 1`,
  );
  const key = file?.storage_key ?? '';
  rmSync(join(folder, 'fresh', key));
  const stray = 'attachments/2026-01/STRAY';
  mkdirSync(join(folder, 'fresh/attachments/2026-01'), { recursive: true });
  writeFileSync(join(folder, 'fresh', stray), 'stray');
  await fresh!.select(`UPDATE ${name}.users SET balance = balance + 1 LIMIT 1`);
  await fresh!.select(`UPDATE ${name}.payments SET amount = amount + 1 WHERE status = 'paid' LIMIT 1`);
  const report = await verify(env.fresh);
  t.false(report.well);
  t.deepEqual(report.rows_without_file, [key]);
  t.deepEqual(
    report.files_without_row.filter((one) => !before.files_without_row.includes(one)),
    [stray],
  );
  t.deepEqual(
    report.contradictions.map(({ what, count }) => [what, count]),
    [
      ['paid orders whose payment is not there, not paid, or of another order or amount', 1],
      ['users whose balance is not the sum of its changes', 1],
    ],
  );
});
