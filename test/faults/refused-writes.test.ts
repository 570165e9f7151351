// A write that is answered 503 has not been booked, however slow the database was (docs/promises.md R8). Its log entry
// commits with it, so the entry shows whether it was booked.
import '../support/settings/environment.js';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { change, insert, select } from '../../src/lib/database/db.js';
import { routes } from '../../src/api/routes.js';
import { Client, type Answer } from '../support/client.js';
import {
  makeAdmin,
  makeMethod,
  makeOrder,
  makePayment,
  makeRole,
  makeUser,
  unique,
} from '../support/factories.js';
import { beforeDatabase, type FaultyProxy } from '../support/servers/faulty-proxy.js';
import { png } from '../support/files.js';
import { holding } from '../support/other-connection.js';
import { startApi, type TestProcess } from '../support/processes.js';
import { processesTest } from '../support/processes-test.js';
import { turnedClock } from '../support/turned-clock.js';

let proxy: FaultyProxy;
let api: TestProcess;
let admin: Client;
let methodId: number;

processesTest(() => proxy?.close());

test.before(async () => {
  const faulty = await beforeDatabase();
  proxy = faulty;
  api = await startApi({ ...faulty.env, ...turnedClock });
  admin = await new Client(api.url).signIn();
  methodId = (await makeMethod(admin)).id;
});

async function made(path: string, body: object): Promise<number> {
  const { status, data, text } = await admin.post(path, body);
  if (status !== 200) throw new Error(text);
  return (data as { id: number }).id;
}

/** The path of a record of its own. */
const own = async (path: string, body: object): Promise<string> => `${path}/${await made(path, body)}`;

const menu = () => ({ title: 'x', slug: unique('m'), type: 1 });
const permission = () => ({ name: 'x', slug: `${unique('p')}.index`, method: 'GET', path: `/${unique()}` });
const ip = () => `10.${[1, 2, 3].map(() => Math.floor(Math.random() * 256)).join('.')}`;
const expense = { amount: '1.00', type: 'expense' };
const income = { amount: '1000.00', type: 'income' };

async function richUser(): Promise<number> {
  const { id } = await makeUser(admin);
  await made(`/users/${id}/update-balance`, income);
  return id;
}

const failedJob = (): Promise<number> => {
  const [key, now] = [unique(), new Date()];
  const values = ['logs', 'clean-logs', key, '{}', 'x', 1, key, 'failed', now, now, now];
  return insert(
    `INSERT INTO failed_jobs (queue, job, job_key, payload, error, attempts, trace_id, state, failed_at, created_at,
       updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    values,
  );
};

const exported = async (): Promise<number> => {
  const { data } = await admin.post('/users/export', { username: unique() });
  await change('UPDATE exports SET status = 2, running_key = NULL WHERE id = ?', [data.export_id]);
  return data.export_id;
};

const imported = async (status: number): Promise<number> => {
  const csv = `user_id,product_name,price,quantity\n1,${unique()},1,1\n`;
  const { data } = await admin.upload('/orders/import', csv, { filename: 'orders.csv' });
  await change('UPDATE imports SET status = ? WHERE id = ?', [status, data.import_id]);
  return data.import_id;
};

const attachment = async (): Promise<number> => {
  const { data } = await admin.upload('/attachments/upload', png, { filename: 'a.png' });
  return data.id;
};

/** What refunds a paid payment of its own to the balance of its user. */
async function refund(): Promise<object> {
  const { payment_no } = await makePayment(admin, methodId);
  await change(`UPDATE payments SET status = 'paid', pay_time = created_at WHERE payment_no = ?`, [
    payment_no,
  ]);
  return { payment_no, amount: '1.00', destination: 'balance', reason: 'x' };
}

/** A refund that somebody else has requested, in that state. */
async function refunded(status: string, fail_reason: string | null = null): Promise<string> {
  const { data } = await admin.post('/refunds', { ...(await refund()), destination: 'channel' });
  await change(
    'UPDATE refunds SET status = ?, requested_by = 0, due_at = NULL, needs_attention = ?, fail_reason = ? WHERE id = ?',
    [status, fail_reason === null ? 0 : 1, fail_reason, data.id],
  );
  return data.refund_no;
}

type Write = [path: string, body?: object];

/** A valid call of each write, for records of its own. */
const writes: Record<string, () => Write | Promise<Write>> = {
  'PUT /profile': () => ['/profile', { nickname: unique() }],
  'POST /admins': () => ['/admins', { username: unique(), password: 'secret-1', nickname: 'x' }],
  'POST /admins/export': () => ['/admins/export', { username: unique() }],
  'PUT /admins/{id}': async () => [`/admins/${(await makeAdmin(admin)).id}`, { nickname: unique() }],
  'PUT /admins/{id}/password': async () => [
    `/admins/${(await makeAdmin(admin)).id}/password`,
    { password: 'secret-2' },
  ],
  'DELETE /admins/{id}/tokens': async () => [`/admins/${(await makeAdmin(admin)).id}/tokens`],
  'DELETE /admins/{id}': async () => [`/admins/${(await makeAdmin(admin)).id}`],
  'POST /roles': () => ['/roles', { name: unique(), slug: unique('r') }],
  'PUT /roles/{id}': async () => [`/roles/${(await makeRole(admin)).id}`, { name: unique() }],
  'DELETE /roles/{id}': async () => [`/roles/${(await makeRole(admin)).id}`],
  'POST /menus': () => ['/menus', menu()],
  'PUT /menus/{id}': async () => [await own('/menus', menu()), { title: unique() }],
  'DELETE /menus/{id}': async () => [await own('/menus', menu())],
  'POST /permissions': () => ['/permissions', permission()],
  'PUT /permissions/{id}': async () => [await own('/permissions', permission()), { name: unique() }],
  'DELETE /permissions/{id}': async () => [await own('/permissions', permission())],
  'POST /departments': () => ['/departments', { name: unique() }],
  'PUT /departments/{id}': async () => [await own('/departments', { name: unique() }), { name: unique() }],
  'DELETE /departments/{id}': async () => [await own('/departments', { name: unique() })],
  'POST /dictionaries': () => ['/dictionaries', { name: 'x', code: unique() }],
  'PUT /dictionaries/{id}': async () => [
    await own('/dictionaries', { name: 'x', code: unique() }),
    { name: unique() },
  ],
  'DELETE /dictionaries/{id}': async () => [await own('/dictionaries', { name: 'x', code: unique() })],
  'POST /blacklists': () => ['/blacklists', { ip: ip() }],
  'PUT /blacklists/{id}': async () => [await own('/blacklists', { ip: ip() }), { remark: unique() }],
  'DELETE /blacklists/{id}': async () => [await own('/blacklists', { ip: ip() })],
  'DELETE /blacklists/batch': async () => [
    '/blacklists/batch',
    { ids: [await made('/blacklists', { ip: ip() })] },
  ],
  'DELETE /failed-jobs/{id}': async () => [`/failed-jobs/${await failedJob()}`],
  'DELETE /failed-jobs/batch': async () => ['/failed-jobs/batch', { ids: [await failedJob()] }],
  'POST /notifications': () => ['/notifications', { title: 'x', content: unique() }],
  'POST /notifications/{id}/read': async () => [
    `${await own('/notifications', { title: 'x', content: unique() })}/read`,
  ],
  'DELETE /attachments/{id}': async () => [`/attachments/${await attachment()}`],
  'PUT /attachments/{id}/display-name': async () => [
    `/attachments/${await attachment()}/display-name`,
    { display_name: unique() },
  ],
  'POST /attachments/batch-delete': async () => ['/attachments/batch-delete', { ids: [await attachment()] }],
  'DELETE /exports/{id}': async () => [`/exports/${await exported()}`],
  'POST /exports/batch-delete': async () => ['/exports/batch-delete', { ids: [await exported()] }],
  'POST /imports/{id}/cancel': async () => [`/imports/${await imported(0)}/cancel`],
  'DELETE /imports/{id}': async () => [`/imports/${await imported(2)}`],
  'POST /users': () => ['/users', { username: unique() }],
  'PUT /users/{id}': async () => [`/users/${(await makeUser(admin)).id}`, { nickname: unique() }],
  'PUT /users/{id}/password': async () => [
    `/users/${(await makeUser(admin)).id}/password`,
    { password: 'secret-2' },
  ],
  'DELETE /users/{id}': async () => [`/users/${(await makeUser(admin)).id}`],
  'POST /users/{id}/update-balance': async () => [`/users/${await richUser()}/update-balance`, expense],
  'POST /user-balance-logs': async () => ['/user-balance-logs', { user_id: await richUser(), ...expense }],
  'POST /users/export': () => ['/users/export', { username: unique() }],
  'POST /user-balance-logs/export': async () => ['/user-balance-logs/export', { user_id: await richUser() }],
  'POST /orders/export': () => ['/orders/export', { keyword: unique() }],
  'POST /payments/export': () => ['/payments/export', { third_party_no: unique() }],
  'POST /orders': async () => {
    const { id } = await makeUser(admin);
    return ['/orders', { user_id: id, details: [{ product_name: 'Tea', price: '1.00', quantity: 1 }] }];
  },
  'PUT /orders/{id}': async () => [`/orders/${(await makeOrder(admin)).id}`, { status: 'cancelled' }],
  'DELETE /orders/{id}': async () => {
    const { id } = await makeOrder(admin);
    await admin.put(`/orders/${id}`, { status: 'cancelled' });
    return [`/orders/${id}`];
  },
  'POST /payments': async () => [
    '/payments',
    { order_no: (await makeOrder(admin)).order_no, payment_method_id: methodId },
  ],
  'PUT /payments/{id}': async () => [
    `/payments/${(await makePayment(admin, methodId)).id}`,
    { remark: unique() },
  ],
  'POST /refunds': async () => ['/refunds', await refund()],
  'PUT /refunds/{id}': async () => [
    `/refunds/${await refunded('processing', 'refund_slow')}`,
    { needs_attention: false, fail_reason: 'refund_slow' },
  ],
  'POST /refunds/{refund_no}/approve': async () => [`/refunds/${await refunded('waiting')}/approve`],
  'POST /refunds/{refund_no}/reject': async () => [`/refunds/${await refunded('waiting')}/reject`, {}],
  'POST /refunds/export': () => ['/refunds/export', { refund_no: unique() }],
  'POST /payment-methods': () => ['/payment-methods', { type: 'mock', name: unique() }],
  'PUT /payment-methods/{id}': async () => [
    `/payment-methods/${(await makeMethod(admin)).id}`,
    { name: unique() },
  ],
  'DELETE /payment-methods/{id}': async () => [`/payment-methods/${(await makeMethod(admin)).id}`],
};

/** Writes whose answers have no deadline, about sessions and logs, and those that repeat work stored before. */
const others = [
  'POST /login',
  'POST /logout',
  'PUT /password',
  'DELETE /profile/sessions/{id}',
  'POST /operation-logs/batch-delete',
  'POST /operation-logs/clean',
  'DELETE /operation-logs/{id}',
  'POST /login-logs/batch-delete',
  'POST /login-logs/clean',
  'DELETE /login-logs/{id}',
  'POST /system-logs/batch-delete',
  'POST /system-logs/clean',
  'DELETE /system-logs/{id}',
  'POST /failed-jobs/retry',
  'POST /failed-jobs/{id}/retry',
  'POST /online-admins/batch-kick-out',
  'DELETE /online-admins/{id}',
  'POST /notifications/ws-ticket',
  'POST /notifications/read-all',
  'POST /attachments/chunk',
  'POST /attachments/upload',
  'POST /orders/import',
  'POST /payments/{payment_no}/place',
  'POST /payments/{payment_no}/query',
  'POST /payments/{payment_no}/callbacks/{id}/replay',
  'POST /refunds/{refund_no}/query',
  'POST /payment-methods/{id}/test',
  'POST //api/payment/notify/{type}',
  'POST //api/payment/notify/{type}/{tenant}',
];

/** A call of every write. */
async function prepared(): Promise<[name: string, write: Write][]> {
  // No worker ends those of earlier calls, and an administrator may have ten under way.
  await change('UPDATE exports SET status = 2, running_key = NULL WHERE status < 2');
  const calls: [string, Write][] = [];
  for (const [name, call] of Object.entries(writes)) calls.push([name, await call()]);
  return calls;
}

interface Sent {
  name: string;
  answer: Answer;
}

async function send(name: string, [path, body]: Write): Promise<Sent> {
  const [method] = name.split(' ');
  return { name, answer: await admin.request(method as string, path, body && { body }) };
}

/** Which of these writes have been booked. */
async function booked(sent: Sent[]): Promise<Set<Sent>> {
  const traceOf = ({ answer }: Sent) => answer.headers.get('X-Trace-Id') as string;
  const rows = await select<{ trace_id: string }>(
    'SELECT trace_id FROM operation_logs WHERE trace_id IN (?)',
    [sent.map(traceOf)],
  );
  const found = new Set(rows.map(({ trace_id }) => trace_id));
  return new Set(sent.filter((one) => found.has(traceOf(one))));
}

/** Every answer says what became of the write. */
async function agree(t: ExecutionContext, sent: Sent[]): Promise<void> {
  const found = await booked(sent);
  for (const one of sent) {
    const { status, text } = one.answer;
    t.true(status === 200 || status === 503, `${one.name}: ${text}`);
    t.is(found.has(one), status === 200, `${one.name}: ${text}`);
  }
}

test.serial('every write of an administrator stands in this file', (t) => {
  const all = routes.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`);
  t.deepEqual(
    all.filter((name) => !(name in writes)).sort(),
    others.map((name) => name.replace('//', '/')).sort(),
  );
});

test.serial('an entry commits with every write', async (t) => {
  const calls = await prepared();
  const sent = await Promise.all(calls.map(([name, call]) => send(name, call)));
  for (const { name, answer } of sent) t.is(answer.status, 200, `${name}: ${answer.text}`);
  await agree(t, sent);
});

test.serial('no write that is answered 503 has been booked after the locks are released', async (t) => {
  t.timeout(120_000);
  const statuses = new Set<number>();
  for (const [from, to] of [
    [6500, 10_000],
    [8000, 9600],
  ] as const) {
    const calls = await prepared();
    const release = await holding('LOCK TABLES operation_logs WRITE');
    const begun = Date.now();
    // The oldest has waited `to` ms when the lock is released, the youngest `from`.
    const spacing = (to - from) / calls.length;
    const answers = calls.map(async ([name, call], index) => {
      await sleep(index * spacing);
      return send(name, call);
    });
    await sleep(begun + to - Date.now());
    // Deadlines do not move with the clock.
    api.child.kill('SIGUSR2');
    await release();
    const sent = await Promise.all(answers);
    await settled();
    for (const { answer } of sent) statuses.add(answer.status);
    await agree(t, sent);
    api.child.kill('SIGUSR2');
  }
  t.true(statuses.has(503));
});

test.serial('as many expenses are booked as are answered 200 when the database is slow', async (t) => {
  t.timeout(120_000);
  const userId = await richUser();
  proxy.slow(20);
  const answers = await Promise.all(
    Array.from({ length: 160 }, () => admin.post(`/users/${userId}/update-balance`, expense)),
  );
  proxy.slow(0);
  await settled();
  const count = (status: number) => answers.filter((answer) => answer.status === status).length;
  t.is(count(200) + count(503), 160);
  t.true(count(200) > 0);
  const [row] = await select<{ logs: number; balance: string }>(
    `SELECT (SELECT COUNT(*) FROM user_balance_logs WHERE user_id = u.id AND type = 'expense') AS logs, u.balance
     FROM users u WHERE u.id = ?`,
    [userId],
  );
  t.deepEqual([Number(row?.logs), Number(row?.balance)], [count(200), 1000 - count(200)]);
});

/** Waits until no transaction of the service is open. */
async function settled(): Promise<void> {
  for (;;) {
    const [row] = await select<{ open: number }>(
      `SELECT COUNT(*) AS open FROM information_schema.innodb_trx t
       JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
       WHERE p.db = DATABASE() AND p.id <> CONNECTION_ID()`,
    );
    if (Number(row?.open) === 0) return;
    await sleep(100);
  }
}
