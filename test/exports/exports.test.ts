// Exports: what the files contain, whose they are, and how they come and go.
import '../support/settings/shared-environment.js';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import test from 'ava';
import { config } from '../../config/index.js';
import { csvOf } from '../../src/lib/sheets/csv.js';
import { change, insert, select } from '../../src/lib/database/db.js';
import type { Cell, Sheet } from '../../src/lib/sheets/sheet.js';
import { xlsxOf } from '../../src/lib/sheets/xlsx.js';
import { outcome } from '../support/client.js';
import { openStream } from '../support/events.js';
import { askExport, byHead, endOf, exportedCsv, fileOf, readCsv, readXlsx } from '../support/exports.js';
import {
  callBack,
  makeOrder,
  makePayment,
  makeRole,
  makeAdmin,
  makeUser,
  signedInWith,
  unique,
} from '../support/factories.js';
import { paidPayment } from '../support/refunds.js';
import { service } from '../support/shared-service.js';
import { openSocket, ticketOf } from '../support/socket.js';
import { until } from '../support/until.js';

const { admin } = service;

const english = { 'Accept-Language': 'en-US' };

const clerkWith = (slugs: string[]) =>
  signedInWith(admin, [...slugs, 'export.index', 'export.show', 'export.download', 'export.destroy']);

/** Files of exports in the storage. */
const storedFiles = (): string[] => {
  const folder = join(config.storage.root, 'exports');
  return existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
        entry.isFile() ? [entry.name] : [],
      )
    : [];
};

/** Name of the file of a finished export. */
async function storedName(id: number): Promise<string> {
  const [row] = await select<{ storage_key: string }>('SELECT storage_key FROM exports WHERE id = ?', [id]);
  return row?.storage_key.split('/').at(-1) ?? '';
}

test('orders of many lines are exported whole', async (t) => {
  const { id: user_id } = await makeUser(admin);
  const lines = (count: number) =>
    Array.from({ length: count }, (_, line) => ({ product_name: `Tea ${line}`, price: '1.00', quantity: 1 }));
  // More rows than a page has, ends of pages within orders, and short orders among them.
  const counts = Array.from({ length: 45 }, (_, order) => (order % 5 === 4 ? 3 : 199));
  for (const count of counts) await admin.post('/orders', { user_id, details: lines(count) });
  const rows = byHead(await exportedCsv(admin, '/orders', { user_id }));
  const found = new Map<string, number>();
  for (const { 订单号: number = '' } of rows) found.set(number, (found.get(number) ?? 0) + 1);
  t.deepEqual([...found.values()], counts);
  t.is(new Set(rows.map((row) => `${row.订单号} ${row.商品名称}`)).size, rows.length, 'no line twice');
});

test('orders are exported one row per line in the language and zone of the request', async (t) => {
  const { id: user_id, username } = await makeUser(admin);
  const details = [
    { product_id: 7, product_name: 'Tea, "green"', price: '12.30', quantity: 3 },
    { product_name: '茶', price: 0.1, quantity: 1 },
  ];
  const order = (await admin.post('/orders', { user_id, details, remark: 'line one\nline two' })).data;
  const other = await makeOrder(admin, '5.00', { user_id });
  await admin.put(`/orders/${other.order_no}`, { status: 'cancelled' });
  await change("UPDATE orders SET created_at = '2024-07-01 20:00:00.999' WHERE user_id = ?", [user_id]);
  const [head, ...rows] = await exportedCsv(admin, '/orders', { user_id });
  t.is(head?.length, 14);
  t.deepEqual([head?.[0], head?.at(-1)], ['订单号', '创建时间 (UTC)']);
  const first = [order.order_no, String(user_id), username, '37.00', '待支付', 'line one\nline two'];
  t.deepEqual(rows, [
    [...first, '7', 'Tea, "green"', '12.30', '3', '36.90', '', '', '2024-07-01 20:00:00'],
    [...first, '', '茶', '0.10', '1', '0.10', '', '', '2024-07-01 20:00:00'],
    [
      ...[other.order_no, String(user_id), username, '5.00', '已取消', ''],
      ...['', 'Tea', '5.00', '1', '5.00', '', '', '2024-07-01 20:00:00'],
    ],
  ]);
  const headers = { ...english, 'X-Timezone': 'Asia/Kathmandu' };
  const [names, line] = await exportedCsv(admin, '/orders', { user_id, status: 'cancelled' }, headers);
  t.deepEqual([names?.[4], names?.at(-1)], ['Status', 'Created at (Asia/Kathmandu)']);
  t.deepEqual([line?.[4], line?.at(-1)], ['Cancelled', '2024-07-02 01:45:00']);
});

test('filters and times mean the same as in the list', async (t) => {
  const { id: user_id } = await makeUser(admin);
  for (const [index, created_at] of [
    '2024-03-09 16:00:00',
    '2024-03-10 15:59:59.999',
    '2024-03-10 16:00:00',
  ].entries()) {
    const { order_no } = await makeOrder(admin, `${index + 1}.00`, { user_id, remark: `r${index}` });
    const at = new Date(`${created_at.replace(' ', 'T')}Z`);
    await change('UPDATE orders SET created_at = ? WHERE order_no = ?', [at, order_no]);
  }
  const amounts = async (body: object) => {
    const [, ...rows] = await exportedCsv(admin, '/orders', { user_id, ...body });
    return rows.map((row) => row[3]);
  };
  t.deepEqual(await amounts({ min_amount: '2.00' }), ['2.00', '3.00']);
  t.deepEqual(await amounts({ max_amount: 1 }), ['1.00']);
  t.deepEqual(
    await amounts({ keyword: 'r1', status: '', order_no: null }),
    ['2.00'],
    'empty ones do not count',
  );
  t.deepEqual(await amounts({ status: 'paid' }), []);
  // Orders keep the month of their number; those made in March 2024 are in this month's partition.
  await change('UPDATE orders SET created_at = NOW(3) - INTERVAL 1 SECOND WHERE user_id = ?', [user_id]);
  const today = new Date().toISOString().slice(0, 10);
  t.is((await amounts({ start_time: `${today} 00:00:00`.slice(0, 8) + '01' })).length, 3);
  const payment = await paidPayment(admin);
  const paid = (await admin.get(`/payments/${payment.payment_no}`)).data;
  const range = { start_time: paid.pay_time, end_time: paid.pay_time, time_field: 'pay_time' };
  const found = await exportedCsv(admin, '/payments', range, english);
  t.true(
    found.some((row) => row[0] === payment.payment_no && row[7] === 'Paid' && row[8]?.startsWith('MOCK-')),
  );
  for (const [body, status, field] of [
    [{ user_id: 'x' }, 400, 'user_id'],
    [{ status: 'lost' }, 422, 'status'],
    [{ start_time: 'yesterday' }, 422, 'start_time'],
    [{ format: 'pdf' }, 422, 'format'],
    [{ min_amount: '1.001' }, 422, 'min_amount'],
  ] as const) {
    const answer = await admin.post('/orders/export', body);
    t.deepEqual([answer.status, Object.keys(answer.errors ?? {})], [status, [field]], JSON.stringify(body));
  }
});

test('every other list exports its columns without secrets', async (t) => {
  const [one, two] = await Promise.all([makeRole(admin), makeRole(admin)]);
  const account = await makeAdmin(admin, [one.id, two.id], { email: 'a@example.com' });
  const [heads, row] = await exportedCsv(admin, '/admins', { username: account.username }, english);
  t.deepEqual(heads?.slice(0, 8), [
    ...['ID', 'Username', 'Nickname', 'E-mail', 'Phone', 'Status', 'Department', 'Roles'],
  ]);
  t.deepEqual(row?.slice(0, 7), [
    ...[String(account.id), account.username, account.username, 'a@example.com', '', 'Enabled', ''],
  ]);
  t.is(row?.[7]?.split('; ').length, 2);
  const [, first] = await exportedCsv(admin, '/admins', { username: 'admin' }, english);
  t.deepEqual([first?.[1], first?.[7]], ['admin', 'Super administrator']);
  const user = await makeUser(admin, { password: 'secret-1', phone: '+86 123456' });
  await admin.post(`/users/${user.id}/update-balance`, {
    type: 'income',
    amount: '9.90',
    description: '=1+1',
  });
  const [, person] = await exportedCsv(admin, '/users', { username: user.username }, english);
  t.deepEqual(person?.slice(0, 7), [
    ...[String(user.id), user.username, user.username, '', "'+86 123456", '9.90', 'Enabled'],
  ]);
  const [, log] = await exportedCsv(admin, '/user-balance-logs', { user_id: user.id }, english);
  t.deepEqual(log?.slice(1, 11), [
    ...[String(user.id), user.username, 'Income', '9.90', '0.00', '9.90', 'manual', '', "'=1+1"],
    service.account.username,
  ]);
  for (const path of ['/admins', '/users']) {
    const text = (await fileOf(admin, await askExport(admin, path))).toString();
    t.notRegex(text, /\$2[aby]\$|password|密码/);
  }
});

test('reasons for attention are exported in words', async (t) => {
  const payment = await makePayment(admin);
  const { payment_no } = payment;
  await admin.put(`/orders/${payment.order_no}`, { status: 'cancelled' });
  await callBack(service.anonymous, payment);
  await admin.post('/refunds', { payment_no, destination: 'balance', reason: 'late' });
  await change("UPDATE refunds SET fail_reason = 'refund_slow' WHERE payment_no = ?", [payment_no]);
  for (const [headers, ofPayment, ofRefund] of [
    [{}, '款项已到账，但订单已无法支付', '渠道 4 小时仍未受理退款，或 8 天仍未完成'],
    [
      english,
      'the money arrived, but its order could no longer be paid',
      'the channel has not accepted it for 4 hours, or not finished it for 8 days',
    ],
  ] as const) {
    const [, paid] = await exportedCsv(admin, '/payments', { payment_no }, headers);
    const [, refunded] = await exportedCsv(admin, '/refunds', { payment_no }, headers);
    t.deepEqual([paid?.[11], refunded?.[13]], [ofPayment, ofRefund]);
  }
});

test('a workbook has real numbers and times and a frozen head', async (t) => {
  const { id: user_id } = await makeUser(admin);
  const details = [{ product_name: '=HYPERLINK("x")', price: '1234567890123.45', quantity: 2 }];
  await admin.post('/orders', { user_id, details });
  // A remark as earlier releases took it.
  await change("UPDATE orders SET created_at = '2024-07-01 20:00:00', remark = ? WHERE user_id = ?", [
    'a < b & c\u0001\uffff',
    user_id,
  ]);
  const id = await askExport(
    admin,
    '/orders',
    { user_id, format: 'xlsx' },
    { 'X-Timezone': 'Asia/Shanghai' },
  );
  const [sheet, ...more] = await readXlsx(await fileOf(admin, id));
  t.deepEqual([sheet?.name, more.length, sheet?.rows.length], ['订单', 0, 2]);
  const [row] = byHead(sheet?.rows ?? []);
  t.like(row, { 订单金额: 2469135780246.9, 状态: '待支付', 备注: 'a < b & c' });
  t.like(row, { 商品名称: '\'=HYPERLINK("x")', 单价: 1234567890123.45, 数量: 2, 小计: 2469135780246.9 });
  t.like(row, { 商品编号: null, 支付单号: null, '支付时间 (Asia/Shanghai)': null });
  // The local time, as a spreadsheet knows no zones.
  t.like(row, { '创建时间 (Asia/Shanghai)': new Date('2024-07-02T04:00:00Z') });
});

const sheetOf = (pages: Cell[][][]): Sheet => ({
  title: 'T',
  columns: [
    { title: 'text', kind: 'text' },
    { title: 'amount', kind: 'amount' },
  ],
  pages: Readable.from(pages),
});

test('cells that a spreadsheet would run are neutralised', async (t) => {
  const risky = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '  =1', '＝1', '-'];
  const plain = ['1-1', 'a=b', '', "'quoted", 'x,y', 'a"b', 'line\r\nbreak', '茶'];
  const rows = [...risky, ...plain].map((text): Cell[] => [1, text, '-5.00']);
  const expected = [...risky.map((text) => `'${text}`), ...plain];
  const [head, ...csv] = readCsv(await buffer(csvOf(sheetOf([rows.slice(0, 3), [], rows.slice(3)]))));
  t.deepEqual(head, ['text', 'amount']);
  t.deepEqual(
    csv,
    expected.map((text) => [text, '-5.00']),
  );
  const [sheet] = await readXlsx(await buffer(xlsxOf(sheetOf([rows]))));
  const seen = sheet?.rows.slice(1).map(([text, amount]) => [text ?? '', amount]);
  // A carriage return in XML is read back as a line feed.
  t.deepEqual(
    seen?.map(([text]) => text),
    expected.map((text) => text.replace(/\r\n?/g, '\n')),
  );
  t.true(seen?.every(([, amount]) => amount === -5));
});

test('rows beyond the limit of a sheet continue on further sheets', async (t) => {
  const rows = Array.from({ length: 2500 }, (_, index): Cell[] => [index, `row ${index}`, '1.00']);
  const sheets = await readXlsx(await buffer(xlsxOf(sheetOf([rows.slice(0, 700), rows.slice(700)]), 1000)));
  t.deepEqual(
    sheets.map(({ name, rows: own }) => [name, own.length, own[0]?.[0], own[1]?.[0]]),
    [
      ['T', 1001, 'text', 'row 0'],
      ['T 2', 1001, 'text', 'row 1000'],
      ['T 3', 501, 'text', 'row 2000'],
    ],
  );
});

test('the record has state, counts, file and times', async (t) => {
  const { id: user_id } = await makeUser(admin);
  for (let made = 0; made < 3; made++) await makeOrder(admin, 1, { user_id });
  const id = await askExport(admin, '/orders', { user_id });
  const record = await endOf(admin, id);
  t.like(record, {
    ...{ id, type: 'orders', format: 'csv', status: 1, status_text: '成功', progress: 100 },
    ...{
      processed_rows: 3,
      total_rows: 3,
      filters: [{ name: 'user_id', value: String(user_id) }],
      error_msg: null,
    },
    file_url: `/api/admin/exports/${id}/download`,
  });
  t.regex(record.filename, /^orders-\d{8}-\d{6}\.csv$/);
  t.is(record.admin.username, service.account.username);
  t.is(Date.parse(record.expires_at) - Date.parse(record.finished_at), 7 * 86_400_000);
  t.deepEqual((await admin.get(`/orders/export/status/${id}`)).data, record);
  t.is((await admin.get(`/exports/${id}`, english)).data.status_text, 'Finished');
  const refunds = async (body: object) => {
    const { filters } = (await admin.get(`/exports/${await askExport(admin, '/refunds', body)}`)).data;
    return filters.map(({ name }: { name: string }) => name);
  };
  t.deepEqual(await refunds({}), [], 'a column without a time range is no filter');
  t.deepEqual(await refunds({ start_time: '2026-01-01' }), ['start_time', 'time_field']);
  for (const path of ['payments', 'users', 'admins', 'user-balance-logs'])
    t.deepEqual(outcome(await admin.get(`/${path}/export/status/${id}`)), [404, 20002, 'export_not_found']);
  const { status, headers, bytes } = await admin.download(`/exports/${id}/download`);
  t.deepEqual([status, bytes.length, headers.get('Content-Length')], [200, record.size, String(record.size)]);
  t.regex(headers.get('Content-Type') ?? '', /^text\/csv/);
  t.true(headers.get('Content-Disposition')?.includes(record.filename));
  t.is(headers.get('X-Content-Type-Options'), 'nosniff');
  const part = await admin.download(`/exports/${id}/download`, { Range: 'bytes=3-9' });
  t.deepEqual([part.status, part.bytes], [206, bytes.subarray(3, 10)]);
  const listed = await admin.get('/exports?type=orders&format=csv&status=1&order_by=id:desc');
  t.true(listed.data.list.some((item: { id: number }) => item.id === id));
});

test('exports are visible only to their owner and super administrators', async (t) => {
  const [owner, other] = await Promise.all([clerkWith(['user.export']), clerkWith(['user.export'])]);
  const id = await askExport(owner, '/users', { username: unique('nobody') });
  await endOf(owner, id);
  const gone = [404, 20002, 'export_not_found'];
  for (const path of [
    `/exports/${id}`,
    `/users/export/status/${id}`,
    `/exports/${id}/download`,
    `/exports/${id}/progress`,
  ])
    t.deepEqual(outcome(await other.get(path)), gone, path);
  t.deepEqual(outcome(await other.delete(`/exports/${id}`)), gone);
  t.is((await other.post('/exports/batch-delete', { ids: [id] })).data.count, 0);
  t.is((await other.get('/exports')).data.total, 0);
  t.is((await owner.get('/exports')).data.total, 1);
  t.is((await admin.get(`/exports/${id}`)).data.admin.username, owner.account?.username);
  t.is((await owner.download(`/exports/${id}/download`)).status, 200);
  t.deepEqual(outcome(await owner.post('/orders/export')), [403, 20001, 'no_permission']);
  t.is((await admin.delete(`/exports/${id}`)).status, 200);
  t.deepEqual(outcome(await owner.get(`/exports/${id}`)), gone);
});

test('a file takes the right to export its list, too', async (t) => {
  const owner = await clerkWith(['user.export']);
  const id = await askExport(owner, '/users', { username: unique('nobody') });
  await endOf(owner, id);
  const { url } = (await owner.get(`/exports/${id}/link`)).data as { url: string };
  const address = owner.url + url.slice(new URL(url).origin.length);
  t.is((await fetch(address)).status, 200);
  const left = await makeRole(admin, ['export.show', 'export.download']);
  t.is((await admin.put(`/admins/${owner.account?.id}`, { role_ids: [left.id] })).status, 200);
  t.is((await fetch(address)).status, 403);
  for (const path of [`/exports/${id}/download`, `/exports/${id}/link`])
    t.deepEqual(outcome(await owner.get(path)), [403, 20001, 'no_permission'], path);
  t.is((await owner.get(`/exports/${id}`)).status, 200);
});

test('deleting an export removes its file', async (t) => {
  const ids = await Promise.all(
    ['a', 'b', 'c'].map((name) => askExport(admin, '/users', { username: unique(name) })),
  );
  for (const id of ids) await endOf(admin, id);
  const names = await Promise.all(ids.map(storedName));
  t.true(names.every((name) => storedFiles().includes(name)));
  t.is((await admin.post('/exports/batch-delete', { ids: [...ids, 999_999] })).data.count, 3);
  t.false(names.some((name) => storedFiles().includes(name)));
  const kept = await select('SELECT storage_key FROM stored_files WHERE storage_key LIKE ?', [
    `%${names[0]}`,
  ]);
  t.is(kept.length, 0);
  const tooMany = Array.from({ length: 101 }, (_, index) => index + 1);
  t.is((await admin.post('/exports/batch-delete', { ids: tooMany })).status, 422);
  t.is((await admin.post('/exports/batch-delete', { ids: [] })).status, 422);
});

test('an export without a file reports why', async (t) => {
  const made = (status: number, error: string | null, expires: string) =>
    insert(
      `INSERT INTO exports (admin_id, type, format, filter, language, status, error, filename, expires_at, created_at, updated_at)
       VALUES (?, 'users', 'csv', '{}', 'en-US', ?, ?, 'f.csv', ${expires}, NOW(3), NOW(3) + INTERVAL 1 DAY)`,
      [service.account.id, status, error],
    );
  const later = 'NOW(3) + INTERVAL 1 DAY';
  const waiting = await made(0, null, 'NULL');
  t.deepEqual(outcome(await admin.get(`/exports/${waiting}/download`)), [400, 40006, 'export_not_ready']);
  t.is((await admin.get(`/exports/${waiting}`, english)).data.status_text, 'Waiting');
  const failed = await made(2, 'export_failed', later);
  t.deepEqual(outcome(await admin.get(`/exports/${failed}/download`)), [500, 40006, 'export_failed']);
  t.is((await admin.get(`/exports/${failed}`, english)).data.error_msg, 'The export failed');
  t.is((await admin.get(`/exports/${failed}`)).data.error_msg, '导出失败');
  t.deepEqual(outcome(await admin.get('/exports/999999/download')), [404, 20002, 'export_not_found']);
});

test('an expired file is refused before it is swept', async (t) => {
  const id = await askExport(admin, '/users', { username: unique('old') });
  await endOf(admin, id);
  const name = await storedName(id);
  await change('UPDATE exports SET expires_at = NOW(3) - INTERVAL 1 SECOND WHERE id = ?', [id]);
  const early = outcome(await admin.get(`/exports/${id}/download`));
  t.true(['export_expired', 'export_not_found'].includes(early[2] ?? ''));
  await until(async () => (await admin.get(`/exports/${id}`)).status === 404);
  await until(() => !storedFiles().includes(name));
  t.pass();
});

test.serial('the owner is notified once', async (t) => {
  const owner = await clerkWith(['user.export']);
  const socket = await openSocket(service.url, await ticketOf(owner));
  t.teardown(() => socket.socket.close());
  const id = await askExport(owner, '/users', { username: unique('told') }, english);
  const last = await until(() =>
    socket.frames.find((frame) => frame.type === 'export' && frame.data?.status !== 0),
  );
  t.deepEqual(last.data, { id, status: 1, progress: 100 });
  const { data } = await socket.frame('notification');
  t.is(data.title, 'Your export is ready');
  t.regex(data.content, /^Users: users-\d{8}-\d{6}\.csv, records: 0$/);
  const { list } = (await owner.get('/notifications')).data;
  t.is(list.filter(({ title }: { title: string }) => title === 'Your export is ready').length, 1);
});

test.serial('the progress stream ends with the final state', async (t) => {
  const owner = await clerkWith(['user.export']);
  const id = await askExport(owner, '/users', { username: unique('watched') });
  const stream = await openStream(
    owner.with({ Authorization: '' }),
    `/exports/${id}/progress?ticket=${await ticketOf(owner)}`,
  );
  await stream.ended;
  const last = stream.events.at(-1);
  t.is(last?.type, 'export');
  t.like(last?.data, { id, status: 1, progress: 100 });
  t.is(stream.events[0]?.type, 'connected');
});
