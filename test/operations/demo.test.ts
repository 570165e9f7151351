// `npm run demo -- --fill`: data that looks real, made by the service's own models, once.
import '../support/environment.js';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { selectRow } from '../support/rows.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

const service = serviceTest();
const program = fileURLToPath(new URL('../../src/api/demo/main.js', import.meta.url));

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

const fill = (env: Record<string, string> = {}): Promise<Ended> =>
  new Promise((resolve) => {
    const options = { env: { ...process.env, ...env } };
    execFile(process.execPath, [program, '--days', '4'], options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });

const countOf = async (what: string): Promise<number> =>
  (await selectRow<{ count: number }>(`SELECT COUNT(*) AS count FROM ${what}`)).count;

test.serial('demo data fills every screen once', async (t) => {
  const first = await fill();
  t.is(first.code, 0, first.stderr);
  t.is(await countOf('users'), 120);
  for (const what of [
    'departments',
    'roles WHERE id > 1',
    'dictionaries',
    'blacklists',
    'attachments',
    'user_balance_logs',
  ])
    t.true((await countOf(what)) > 0, what);
  const days = await selectRow<{ days: number }>(
    'SELECT COUNT(DISTINCT DATE(created_at)) AS days FROM orders',
  );
  t.true(days.days >= 4);
  t.true((await countOf("orders WHERE status = 'paid'")) > (await countOf("orders WHERE status <> 'paid'")));
  t.is(
    await countOf(
      "orders o JOIN payments p ON p.payment_no = o.payment_no WHERE o.status = 'paid' AND p.status <> 'paid'",
    ),
    0,
  );
  t.is(await countOf('orders WHERE created_at > NOW() + INTERVAL 1 MINUTE'), 0);
  await until(async () => (await countOf('operation_logs')) > 0 && (await countOf('login_logs')) > 1);
  const { data } = await service.admin.get('/orders?page_size=1');
  const orders = await countOf('orders');
  t.is(data.total, orders);

  const again = await fill();
  t.is(again.code, 0, again.stderr);
  t.true((await countOf('orders')) - orders < 15, 'only what is missing of today');
  t.is(await countOf('users'), 120);
});

test.serial('demo data is refused in production', async (t) => {
  const before = await countOf('orders');
  const refused = await fill({ NODE_ENV: 'production' });
  t.is(refused.code, 1);
  t.regex(refused.stderr, /refuses to do so in production/);
  t.is(await countOf('orders'), before);
});
