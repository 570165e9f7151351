// `npm run demo`: data that looks real, made by the service's own models, once.
import '../support/settings/environment.js';
import test from 'ava';
import { change } from '../../src/lib/database/db.js';
import { runCli } from '../support/processes.js';
import { selectRow } from '../support/rows.js';
import { serviceTest } from '../support/service-test.js';

const service = serviceTest();

const fill = (env?: Record<string, string>) => runCli(['demo', '--days', '4', '--lang', 'en-US'], env);

const countOf = async (what: string): Promise<number> =>
  (await selectRow<{ count: number }>(`SELECT COUNT(*) AS count FROM ${what}`)).count;

/** Titles of operations as a reader of that language sees them, of those that match. */
async function titlesOf(language: string, wrong: RegExp): Promise<string[]> {
  const reader = service.admin.with({ 'Accept-Language': language });
  const { data } = await reader.get('/operation-logs?page_size=100');
  return data.list.map(({ title }: { title: string }) => title).filter((title: string) => wrong.test(title));
}

test.serial('demo data fills the screens once', async (t) => {
  const first = await fill();
  t.is(first.code, 0, first.errors);
  t.is(await countOf('users'), 120);
  t.is(
    await countOf('users u JOIN users later ON later.id > u.id AND later.created_at < u.created_at'),
    0,
    'their numbers are in the order of their times',
  );
  for (const what of ['departments', 'roles WHERE id > 1', 'dictionaries', 'user_balance_logs', 'login_logs'])
    t.true((await countOf(what)) > 0, what);
  t.true((await countOf('(SELECT DISTINCT DATE(created_at) FROM orders) days')) >= 4);
  t.true((await countOf("orders WHERE status = 'paid'")) > (await countOf("orders WHERE status <> 'paid'")));
  t.is(
    await countOf(
      "orders o JOIN payments p ON p.payment_no = o.payment_no WHERE o.status = 'paid' AND p.status <> 'paid'",
    ),
    0,
  );
  t.is(await countOf('orders WHERE created_at > NOW() + INTERVAL 1 MINUTE'), 0);
  t.true((await countOf("operation_logs WHERE ip LIKE '198.51.100.%'")) >= 10);
  const changed = 'operation_logs l JOIN orders o ON o.order_no = l.record_key';
  t.is(
    await countOf(`${changed} WHERE l.created_at < o.created_at`),
    0,
    'no order is changed before it is placed',
  );
  t.is(
    await countOf("operation_logs WHERE username REGEXP '^(finance|audit)'"),
    0,
    'who may not change orders has not',
  );
  t.is(
    await countOf(
      "user_balance_logs b JOIN admins a ON a.id = b.operator_id WHERE a.username NOT LIKE 'support.%'",
    ),
    0,
  );
  t.is(
    await countOf(
      'roles r WHERE r.id > 1 AND (SELECT COUNT(*) FROM role_menus m WHERE m.role_id = r.id) > 12',
    ),
    0,
  );
  t.deepEqual(await titlesOf('en-US', /\p{Script=Han}/u), [], 'operations are in the language of the reader');
  t.deepEqual(await titlesOf('zh-CN', /^[\w\s]*$/), []);
  const chinese = ['users WHERE nickname', 'order_details WHERE product_name', 'departments WHERE name'];
  for (const names of [
    ...chinese,
    'payment_methods WHERE name',
    'dictionaries WHERE name',
    'roles WHERE id > 1 AND name',
  ])
    t.is(await countOf(`${names} REGEXP '[一-龥]'`), 0, names);
  const orders = await countOf('orders');
  t.is((await service.admin.get('/orders?page_size=1')).data.total, orders);

  const again = await fill();
  t.is(again.code, 0, again.errors);
  t.deepEqual([await countOf('orders'), await countOf('users')], [orders, 120]);

  await change("DELETE FROM user_balance_logs WHERE request_id = 'demo-0'");
  const interrupted = await fill();
  t.deepEqual([interrupted.code, await countOf('orders')], [1, orders]);
  t.regex(interrupted.output, /^an earlier run was interrupted/);
});

test.serial('demo data is refused in production', async (t) => {
  const before = await countOf('orders');
  const refused = await fill({ NODE_ENV: 'production' });
  t.is(refused.code, 2, refused.errors);
  t.is(await countOf('orders'), before);
});
