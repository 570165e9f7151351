// The changes of a write in the operation log, while others change the same record.
import '../support/settings/environment.js';
import test from 'ava';
import { select } from '../../src/lib/database/db.js';
import { newUlid } from '../../src/lib/secrets/random-id.js';
import type { Answer, Client } from '../support/client.js';
import { makeAdmin, makeMethod, makeOrder, makePayment, makeRole, makeUser } from '../support/factories.js';
import { lockWaits, otherConnection } from '../support/other-connection.js';
import { paidPayment } from '../support/refunds.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

const service = serviceTest();

interface Change {
  field: string;
  old: unknown;
  new: unknown;
}

const traced = (traceId: string) => ({ 'X-Trace-Id': traceId });

/** The changes in the entry of a write, once it has its outcome. */
async function changesOf(traceId: string): Promise<Change[]> {
  const { changes } = await until(async () => {
    const [entry] = await select<{ changes: string | null }>(
      'SELECT changes FROM operation_logs WHERE trace_id = ? AND duration_ms > 0',
      [traceId],
    );
    return entry;
  });
  return changes === null ? [] : (JSON.parse(changes) as Change[]);
}

/** Sends a change that waits until somebody else has changed the same row. */
async function overtaken(
  table: string,
  by: { sql: string; id: number; lock?: string },
  send: (headers: Record<string, string>) => Promise<Answer>,
): Promise<{ answer: Answer; changes: Change[] }> {
  const other = await otherConnection();
  await other.query('START TRANSACTION');
  if (by.lock) await other.query(by.lock);
  await other.query(`UPDATE ${table} SET ${by.sql} WHERE id = ?`, [by.id]);
  const traceId = newUlid();
  const sent = send(traced(traceId));
  await until(async () => (await lockWaits(by.lock ? 'roles' : table)) > 0);
  await other.query('COMMIT');
  await other.end();
  return { answer: await sent, changes: await changesOf(traceId) };
}

test('an edit of a user is not logged as a change of the balance', async (t) => {
  const { id } = await makeUser(service.admin);
  const { answer, changes } = await overtaken(
    'users',
    { sql: `balance = 5, phone = '13800000001'`, id },
    (headers) => service.admin.put(`/users/${id}`, { phone: '13800000002' }, headers),
  );
  t.is(answer.status, 200);
  t.deepEqual(changes, [{ field: 'phone', old: '13800000001', new: '13800000002' }]);
});

test('an order that somebody else has just cancelled is not logged as cancelled again', async (t) => {
  const { id, order_no } = await makeOrder(service.admin);
  const { answer, changes } = await overtaken(
    'orders',
    { sql: `status = 'cancelled', cancelled_at = NOW(3)`, id },
    (headers) => service.admin.put(`/orders/${order_no}`, { status: 'cancelled', remark: 'late' }, headers),
  );
  t.is(answer.status, 200);
  t.deepEqual(changes, [{ field: 'remark', old: null, new: 'late' }]);
});

test('a remark on a payment is not logged as its refund, nor clearing a refund as its end', async (t) => {
  const { admin } = service;
  const { id: methodId } = await makeMethod(admin);
  const payment = await makePayment(admin, methodId);
  const remarked = await overtaken('payments', { sql: 'refunded_amount = 1', id: payment.id }, (headers) =>
    admin.put(`/payments/${payment.payment_no}`, { remark: 'called' }, headers),
  );
  t.deepEqual(remarked.changes, [{ field: 'remark', old: null, new: 'called' }]);
  const { payment_no } = await paidPayment(admin, methodId);
  const { data: refund } = await admin.post('/refunds', {
    ...{ payment_no, destination: 'balance', reason: 'sold out' },
  });
  const flag = `needs_attention = 1, fail_reason = 'refund_slow', code = 'X'`;
  const cleared = await overtaken('refunds', { sql: flag, id: refund.id }, (headers) =>
    admin.put(
      `/refunds/${refund.refund_no}`,
      { needs_attention: false, fail_reason: 'refund_slow' },
      headers,
    ),
  );
  t.deepEqual(cleared.changes, [{ field: 'needs_attention', old: true, new: false }]);
});

test('a new name of a role or administrator is not logged as that of who changes something else', async (t) => {
  const { admin } = service;
  const role = await makeRole(admin, [], { description: 'old' });
  const described = await overtaken('roles', { sql: `name = 'theirs'`, id: role.id }, (headers) =>
    admin.put(`/roles/${role.id}`, { description: 'new' }, headers),
  );
  t.deepEqual(described.changes, [{ field: 'description', old: 'old', new: 'new' }]);
  const { id } = await makeAdmin(admin);
  // As every change of an administrator.
  const lock = `SELECT id FROM roles WHERE slug = 'super-admin' FOR UPDATE`;
  const called = await overtaken('admins', { sql: `nickname = 'theirs'`, id, lock }, (headers) =>
    admin.put(`/admins/${id}`, { phone: '13800000001' }, headers),
  );
  t.deepEqual(called.changes, [{ field: 'phone', old: null, new: '13800000001' }]);
});

const simpleRecords = [
  { path: 'departments', body: { name: 'Sales' }, theirs: 'sort = 7', edit: { leader: 'Ann' } },
  {
    path: 'permissions',
    body: { name: 'Reports', slug: 'reports.show', method: 'GET', path: '/reports' },
    theirs: 'sort = 7',
    edit: { name: 'Figures' },
  },
  {
    path: 'menus',
    body: { title: 'Reports', slug: 'reports', type: 1 },
    theirs: 'sort = 7',
    edit: { icon: 'chart' },
  },
  {
    path: 'dictionaries',
    body: { name: 'Sizes', code: 'sizes' },
    theirs: 'sort = 7',
    edit: { name: 'Size' },
  },
  { path: 'blacklists', body: { ip: '198.51.100.7' }, theirs: 'status = 0', edit: { remark: 'bots' } },
];

for (const { path, body, theirs, edit } of simpleRecords) {
  test(`an edit under /${path} is not logged as what others changed`, async (t) => {
    const { data } = await service.admin.post(`/${path}`, body);
    const { answer, changes } = await overtaken(path, { sql: theirs, id: data.id }, (headers) =>
      service.admin.put(`/${path}/${data.id}`, edit, headers),
    );
    t.is(answer.status, 200);
    t.deepEqual(
      changes.map(({ field }) => field),
      Object.keys(edit),
    );
  });
}

test('edits of one record at the same moment follow from each other in the log', async (t) => {
  const { id } = await makeMethod(service.admin);
  const names = Array.from({ length: 8 }, (_, index) => `name ${index}`);
  const edits = names.map((name) => ({ name, traceId: newUlid() }));
  const put = (client: Client, { name, traceId }: (typeof edits)[number]) =>
    client.put(`/payment-methods/${id}`, { name }, traced(traceId));
  await Promise.all(edits.map((edit) => put(service.admin, edit)));
  const olds = await Promise.all(
    edits.map(async ({ name, traceId }) => {
      const [change, ...others] = await changesOf(traceId);
      t.like(change, { field: 'name', new: name });
      t.deepEqual(others, []);
      return change?.old;
    }),
  );
  const { name: last } = (await service.admin.get(`/payment-methods/${id}`)).data;
  t.deepEqual(olds.sort(), ['mock', ...names.filter((name) => name !== last)].sort());
});
