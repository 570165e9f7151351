// Old log entries leave in batches and by whole months: lists are exact meanwhile, and when the process that removes them dies.
import '../support/environment.js';
import test, { type ExecutionContext } from 'ava';
import { change, closeDatabase, db, select } from '../../src/lib/database/db.js';
import { periodOf, shiftPeriod } from '../../src/lib/numbers.js';
import { newUlid } from '../../src/lib/secrets/random-id.js';
import { LoginLog } from '../../src/models/logs/tables.js';
import { insertStatement } from '../../src/models/tables/rows.js';
import { Client } from '../support/client.js';
import { beforeDatabase } from '../support/faulty-proxy.js';
import { holding } from '../support/other-connection.js';
import { killProcesses, startApi, type TestProcess } from '../support/processes.js';
import { until } from '../support/until.js';

/** A copy may be as old as this. */
const lateMs = 3000;

let proxy: Awaited<ReturnType<typeof beforeDatabase>>;
let cleaning: TestProcess;
/** Through a process that has no part in the cleaning. */
let reader: Client;
let cleaner: Client;

test.before(async () => {
  proxy = await beforeDatabase();
  const other = await startApi();
  cleaning = await startApi(proxy.env);
  reader = await new Client(other.url).signIn();
  cleaner = reader.at(cleaning.url);
});

test.after.always(async () => {
  await killProcesses();
  proxy?.close();
  await db.query(`DROP DATABASE IF EXISTS \`${process.env.DB_NAME}\``);
  await closeDatabase();
});

async function fill(period: number, username: string, created_at: Date, count: number): Promise<void> {
  const rest = { username, ip: '127.0.0.1', user_agent: '', browser: '', os: '', device: 'other' };
  const rows = Array.from({ length: count }, () => ({
    ...{
      ...rest,
      period,
      log_key: newUlid(),
      admin_id: null,
      status: 1,
      outcome: 'login_success',
      created_at,
    },
  }));
  const { sql, values } = insertStatement(LoginLog, rows);
  await change(sql, [...values]);
}

const left = async (username: string): Promise<number> =>
  (await select('SELECT id FROM login_logs WHERE username = ?', [username])).length;

const listed = async (username: string): Promise<number> =>
  (await reader.get(`/login-logs?username=${username}&page_size=10`)).data.total as number;

/** The list agrees with the table soon enough. */
async function isExact(t: ExecutionContext, username: string): Promise<void> {
  const since = Date.now();
  const wanted = await left(username);
  let total = await listed(username);
  while (total !== wanted && Date.now() - since < lateMs) total = await listed(username);
  t.is(total, wanted);
}

test.serial('a list is exact between two batches', async (t) => {
  await fill(201912, 'ancient', new Date('2019-12-15T00:00:00Z'), 6000);
  await isExact(t, 'ancient');
  const [last] = await select<{ id: number }>('SELECT MAX(id) AS id FROM login_logs WHERE username = ?', [
    'ancient',
  ]);
  // The second batch waits for as long as somebody else has this lock.
  await db.query(
    `CREATE TRIGGER waits BEFORE DELETE ON login_logs FOR EACH ROW
     BEGIN IF OLD.id = ${last?.id} THEN DO GET_LOCK('cleaning', 30); END IF; END`,
  );
  const letGo = await holding(`DO GET_LOCK('cleaning', 0)`);
  const cleaned = cleaner.post('/login-logs/clean', { days: 1000 });
  await until(async () => (await left('ancient')) === 1000);
  await isExact(t, 'ancient');
  t.is(await left('ancient'), 1000, 'the second batch still waits');
  await letGo();
  t.is((await cleaned).data.count, 6000);
  await isExact(t, 'ancient');
  await db.query('DROP TRIGGER waits');
});

test.serial('a list is exact after a process died with a month dropped', async (t) => {
  const month = shiftPeriod(periodOf(new Date()), -1);
  const [year, monthOfYear] = [Math.floor(month / 100), month % 100];
  const partition = () =>
    select(
      `SELECT 1 FROM information_schema.PARTITIONS
       WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'login_logs' AND PARTITION_NAME = ?`,
      [`p${month}`],
    );
  await fill(month, 'recent', new Date(Date.UTC(year, monthOfYear - 1, 15)), 50);
  await isExact(t, 'recent');
  proxy.forgetAt('DROP PARTITION', 'answers');
  const cleaned = cleaner.post('/login-logs/clean', { days: 1 }).catch(() => undefined);
  await until(async () => (await partition()).length === 0);
  await cleaning.kill();
  t.is(await cleaned, undefined);
  t.is(await left('recent'), 0);
  await isExact(t, 'recent');
  await fill(month, 'recent', new Date(), 1);
  await isExact(t, 'recent');
  t.is((await reader.post('/login-logs/clean', { days: 1 })).status, 200);
  t.deepEqual(await select(`SELECT scope FROM versions WHERE scope LIKE '%uncounted'`), []);
  await isExact(t, 'recent');
});
