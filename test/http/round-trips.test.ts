// PUT accepts what GET answers and changes nothing, for every resource with both.
import '../support/shared-environment.js';
import test from 'ava';
import { permissionOf } from '../../src/api/declare/route.js';
import { routes } from '../../src/api/routes.js';
import { change } from '../../src/lib/database/db.js';
import {
  callBack,
  makeAdmin,
  makeMethod,
  makeOrder,
  makePayment,
  makeRole,
  makeUser,
  permissionId,
  signedInWith,
  unique,
} from '../support/factories.js';
import { png } from '../support/files.js';
import { alipayConfig, wechatConfig } from '../support/merchant.js';
import { paidPayment } from '../support/refunds.js';
import { service } from '../support/shared-service.js';

const { admin } = service;
/** Sees no rows that other tests make. */
const own = await signedInWith(admin, []);

async function made(path: string, body: object): Promise<number> {
  const { status, data, text } = await admin.post(path, body);
  if (status !== 200) throw new Error(text);
  return (data as { id: number }).id;
}

async function payments(): Promise<number[]> {
  const method = (await makeMethod(admin)).id;
  const [pending, paid, flagged, cleared] = await Promise.all(
    [1, 2, 3, 4].map(() => makePayment(admin, method)),
  );
  const notify = (payment: typeof paid, more = {}) => callBack(service.anonymous, payment as never, more);
  await notify(paid);
  for (const payment of [flagged, cleared]) await notify(payment, { amount: '0.01' });
  const seen = { needs_attention: false, fail_reason: 'payment_amount_mismatch' };
  await admin.put(`/payments/${cleared?.id}`, seen);
  return [pending, paid, flagged, cleared].map((payment) => payment?.id as number);
}

async function orders(): Promise<number[]> {
  const [pending, cancelled] = [await makeOrder(admin), await makeOrder(admin, 1, { remark: 'one\ntwo' })];
  await admin.put(`/orders/${cancelled.id}`, { status: 'cancelled' });
  const paid = await paidPayment(admin);
  const { list } = (await admin.get(`/orders?order_no=${paid.order_no}`)).data;
  return [pending.id, cancelled.id, list[0].id];
}

async function refunds(): Promise<number[]> {
  const payment = await paidPayment(admin);
  const ask = (destination: string): Promise<number> =>
    made('/refunds', { payment_no: payment.payment_no, amount: 1, destination, reason: 'x' });
  const [given, flagged] = [await ask('balance'), await ask('balance')];
  await change(`UPDATE refunds SET needs_attention = 1, fail_reason = 'refund_stuck' WHERE id = ?`, [
    flagged,
  ]);
  return [given, flagged];
}

const contact = { email: 'a@example.com', phone: '+49 30 1', avatar: '/a.png' };

/** Keys of records: the emptiest, the fullest, and those of every state. */
const records: Record<string, () => Promise<number[]>> = {
  '/admins/{id}': async () => {
    const department_id = await made('/departments', { name: unique() });
    const role = await makeRole(admin, ['admin.index']);
    const full = await makeAdmin(admin, [role.id], { ...contact, department_id, status: 0 });
    const superior = await makeAdmin(admin, [1]);
    return [superior.id, (await makeAdmin(admin)).id, full.id];
  },
  '/roles/{id}': async () => {
    const menu_ids = [await made('/menus', { title: 'x', slug: unique('m'), type: 1 })];
    const full = await makeRole(admin, ['role.index'], { menu_ids, description: 'a\nb', status: 0 });
    return [1, (await makeRole(admin)).id, full.id];
  },
  '/menus/{id}': async () => {
    const parent_id = await made('/menus', { title: 'x', slug: unique('m'), type: 1 });
    const full = {
      icon: 'x',
      path: '/x',
      component: 'x/y',
      is_hidden: 1,
      link_type: 2,
      open_type: 2,
      no_cache: 1,
    };
    return [
      1,
      parent_id,
      await made('/menus', { title: 'x', slug: unique('m'), type: 3, parent_id, ...full }),
    ];
  },
  '/permissions/{id}': async () => {
    const own = () => ({ name: 'x', slug: unique('p.'), method: 'GET', path: '/x' });
    const full = { menu_id: 1, description: 'x', status: 0 };
    const builtin = await permissionId(admin, 'admin.index');
    return [builtin, await made('/permissions', own()), await made('/permissions', { ...own(), ...full })];
  },
  '/departments/{id}': async () => {
    const parent_id = await made('/departments', { name: unique() });
    const { email, phone } = contact;
    const full = { parent_id, email, phone, code: 'x', leader: 'x', remark: 'x', status: 0 };
    return [parent_id, await made('/departments', { name: unique(), ...full })];
  },
  '/dictionaries/{id}': async () => {
    const parent_id = await made('/dictionaries', { name: 'x', code: unique() });
    const full = { parent_id, value: '值', description: 'x', status: 0 };
    return [parent_id, await made('/dictionaries', { name: 'x', code: '代码 1', ...full })];
  },
  '/blacklists/{id}': () =>
    Promise.all(
      ['203.0.113.1', '198.51.100.0/25', '2001:db8::/64', '192.0.2.1-192.0.2.9'].map((ip, index) =>
        made('/blacklists', { ip, ...(index > 1 && { remark: 'x', status: 0 }) }),
      ),
    ),
  '/users/{id}': async () => [
    (await makeUser(admin)).id,
    (await makeUser(admin, { ...contact, nickname: 'x', status: 0, password: 'secret-1' })).id,
  ],
  '/orders/{id}': orders,
  '/payments/{id}': payments,
  '/refunds/{id}': refunds,
  '/payment-methods/{id}': async () => {
    const more = { name: 'x', description: 'x', is_active: false };
    return [
      (await makeMethod(admin, '')).id,
      (await makeMethod(admin, 'shared secret', { code: unique('m'), ...more })).id,
      await made('/payment-methods', { type: 'wechat', config: wechatConfig }),
      await made('/payment-methods', { type: 'alipay', config: alipayConfig }),
    ];
  },
  '/attachments/{id}/display-name': async () => [
    (await admin.upload('/attachments/upload', png, { filename: 'a.png' })).data.id,
  ],
  '/profile': () => Promise.resolve([1]),
};

// A password is never answered.
const writable = routes.filter(({ method, path }) => method === 'PUT' && !path.endsWith('/password'));

/** Where the record that a PUT changes is read. */
const readAt = (path: string): string => (path === '/profile' ? '/info' : path.replace('/display-name', ''));

const begun = new Map<string, Promise<number[]>>();

/** The records of a path, made once. */
function recordsOf(path: string): Promise<number[]> {
  const ids = begun.get(path) ?? records[path]?.() ?? Promise.reject(new Error(`${path} needs records here`));
  begun.set(path, ids);
  return ids;
}

const withoutTime = (record: object): object => ({ ...record, updated_at: undefined });

for (const { path } of writable)
  test(`${path} takes back what is answered`, async (t) => {
    const caller = path === '/profile' ? own : admin;
    for (const id of await recordsOf(path)) {
      const [write, read] = [path, readAt(path)].map((one) => one.replace('{id}', String(id)));
      const shown = await caller.get(read as string);
      t.is(shown.status, 200, shown.text);
      const taken = await caller.put(write as string, shown.data);
      t.is(taken.status, 200, `${JSON.stringify(shown.data)}: ${taken.text}`);
      t.deepEqual(withoutTime((await caller.get(read as string)).data), withoutTime(shown.data));
      t.deepEqual(withoutTime(taken.data), withoutTime(shown.data), `${path} answers the full record`);
    }
  });

const listed = writable.filter(({ path }) =>
  routes.some(
    (route) => route.method === 'GET' && route.path === path.replace('/{id}', '') && permissionOf(route),
  ),
);

test('entries of lists are taken back as well', async (t) => {
  t.true(listed.length >= 10);
  for (const { path } of listed) {
    // Records of other tests would lose what those change in between.
    const own = await recordsOf(path);
    const { list } = (await admin.get(`${path.replace('/{id}', '')}?page_size=100`)).data;
    const entries = (list as { id: number }[]).filter(({ id }) => own.includes(id));
    t.true(entries.length > 0, path);
    for (const entry of entries) {
      const taken = await admin.put(path.replace('{id}', String(entry.id)), entry);
      t.is(taken.status, 200, `${JSON.stringify(entry)}: ${taken.text}`);
    }
  }
});
