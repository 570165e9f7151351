// A backup of a service that keeps its files in S3, put back into another store and into a folder.
import '../support/environment.js';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { closeDatabase, db } from '../../src/lib/database/db.js';
import { Client } from '../support/client.js';
import { startOwnDatabase, type OwnDatabase } from '../support/database.js';
import { png } from '../support/files.js';
import { killProcesses, runCli, startApi } from '../support/processes.js';
import { startS3, type S3Server } from '../support/s3.js';

const folder = mkdtempSync(join(tmpdir(), 'backups-s3-'));
const backups = join(folder, 'backups');
const ids: number[] = [];

let [store, otherStore]: S3Server[] = [];
let other: OwnDatabase;
let path: string;

test.before(async () => {
  [store, otherStore, other] = await Promise.all([startS3(), startS3(), startOwnDatabase()]);
});

test.after.always(async () => {
  await killProcesses();
  await Promise.all([store?.stop(), otherStore?.stop(), other?.remove()]);
  rmSync(folder, { recursive: true, force: true });
  await db.query(`DROP DATABASE IF EXISTS \`${process.env.DB_NAME}\``);
  await closeDatabase();
});

interface Report {
  well: boolean;
  files_without_row: string[];
  rows_without_file: string[];
}

/** Restores the backup on another machine and looks what is there. */
async function restoredTo(t: ExecutionContext, storage: Record<string, string>, ...more: string[]) {
  const machine = { ...other.env, REDIS_PREFIX: 'other-store', ...storage };
  const operator = { ...machine, DB_USER: 'tester' };
  const restored = await runCli(['--yes', 'restore', path, ...more], operator);
  t.is(restored.code, 0, restored.errors);
  const { output } = await runCli(['--json', 'verify'], machine);
  const report = JSON.parse(output) as Report;
  t.true(report.well, output);
  const api = await startApi(machine);
  const admin = await new Client(api.url).signIn();
  for (const id of ids) {
    const { status, bytes } = await admin.download(`/attachments/${id}/download`);
    t.is(status, 200);
    t.true(bytes.equals(png));
  }
  await api.stop();
}

test.serial('each file of a bucket is backed up once', async (t) => {
  const env = { ...store?.env };
  const api = await startApi(env);
  const admin = await new Client(api.url).signIn();
  for (const filename of ['one.png', 'two.png']) {
    const { data, text, status } = await admin.upload('/attachments/upload', png, { filename });
    t.is(status, 200, text);
    ids.push((data as { id: number }).id);
  }
  const back = async () => {
    const { output, errors, code } = await runCli(['--json', 'backup', backups], env);
    t.is(code, 0, errors);
    return JSON.parse(output) as { path: string; manifest: { files: { count: number } } };
  };
  const first = await back();
  t.true(first.manifest.files.count >= 2);
  const kept = () => readdirSync(join(backups, 'files'), { recursive: true }).length;
  const before = kept();
  ({ path } = await back());
  t.is(kept(), before);
  t.is((await runCli(['verify', '--backup', path], env)).code, 0);
  const { output } = await runCli(['--json', 'verify'], env);
  t.true((JSON.parse(output) as Report).well, output);
  await api.stop();
});

test.serial('a backup is restored into another bucket', async (t) => {
  await restoredTo(t, { ...otherStore?.env });
});

test.serial('a backup is restored into a folder', async (t) => {
  await restoredTo(t, { STORAGE_DRIVER: 'local', STORAGE_ROOT: join(folder, 'local') }, '--overwrite');
});
