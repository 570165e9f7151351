// GET /imports/{id}/error-file: the failed rows as they were sent, which become orders when they are corrected and sent again.
import '../support/shared-environment.js';
import test from 'ava';
import { change, select } from '../../src/lib/database/db.js';
import { storage } from '../../src/lib/storage/index.js';
import type { Client } from '../support/client.js';
import { makeUser } from '../support/factories.js';
import { concluded, errorFileOf, startImport } from '../support/imports.js';
import { service } from '../support/shared-service.js';

let english: Client;

test.before(() => {
  english = service.admin.with({ 'Accept-Language': 'en-US' });
});

const head = 'user_id,amount,remark,order_ref,product_name,price,quantity';

interface Ended {
  id: number;
  status: number;
  success_count: number;
  failed_count: number;
  order_count: number;
  error_msg: string | null;
}

/** Imports a file. @returns its record at the end */
async function imported(content: string | Uint8Array, fields?: Record<string, string>): Promise<Ended> {
  const id = await startImport(english, content, fields);
  await concluded(id);
  return (await english.get(`/imports/${id}`)).data;
}

const newUser = async (): Promise<number> => (await makeUser(service.admin)).id;

/** The orders of a user as remark, amount and lines, sorted. */
async function ordersOf(user: number): Promise<string[]> {
  const rows = await select<{ text: string }>(
    `SELECT CONCAT_WS('|', COALESCE(o.remark, ''), o.amount,
       GROUP_CONCAT(CONCAT(d.product_name, ' ', d.price) ORDER BY d.product_name SEPARATOR '+')) AS text
     FROM orders o JOIN order_details d ON d.order_no = o.order_no AND d.period = o.period
     WHERE o.user_id = ? GROUP BY o.id, o.remark, o.amount`,
    [user],
  );
  return rows.map(({ text }) => text).sort();
}

test('failed rows come back as sent and can be imported when corrected', async (t) => {
  const user = await newUser();
  const rows = [
    `${user},,whole,A,a1,1,1`,
    `${user},,half bad,B,b1,1,1`,
    `${user},,alone,,x,2,1`,
    `${user},,half bad,B,b2,bad,1`,
    `${user},,"a ""quote"", a comma,`,
    `and two lines",,y,bad,1`,
    `,,whole,A,a2,2,1`,
    `${user},,,C,c1,bad,1`,
    `${user},,half bad,B,b3,3,1`,
    ` ${user} ,, padded ,,  z,x,1`,
    `${user}`,
  ];
  const first = await imported([head, ...rows].join('\r\n'));
  t.like(first, { status: 1, success_count: 3, failed_count: 7, order_count: 2 });
  const { bytes, rows: failed } = await errorFileOf(english, first.id);
  const money = 'price: must be an amount from 0 to 10000000000000 with at most two decimals';
  const innocent = 'order_ref: Row 5 of the same order is not acceptable, so the order was not imported';
  t.deepEqual(failed, [
    [...head.split(','), 'reason'],
    [String(user), '', 'half bad', 'B', 'b1', '1', '1', `Row 3. ${innocent}`],
    [String(user), '', 'half bad', 'B', 'b2', 'bad', '1', `Row 5. ${money}`],
    [String(user), '', 'a "quote", a comma,\r\nand two lines', '', 'y', 'bad', '1', `Row 6. ${money}`],
    [String(user), '', '', 'C', 'c1', 'bad', '1', `Row 8. ${money}`],
    [String(user), '', 'half bad', 'B', 'b3', '3', '1', `Row 9. ${innocent}`],
    [` ${user} `, '', ' padded ', '', '  z', 'x', '1', `Row 10. ${money}`],
    [
      ...[String(user), '', '', '', '', '', ''],
      'Row 11. product_name: is required; price: is required; quantity: is required',
    ],
  ]);
  const unchanged = await imported(bytes);
  t.like(unchanged, { success_count: 0, failed_count: 7 });
  const corrected = bytes
    .toString()
    .replaceAll(/,(bad|x),/g, ',9,')
    .replace(`${user},,,,,`, `${user},4,,,,`);
  t.like(await imported(corrected), { status: 1, success_count: 7, failed_count: 0, order_count: 5 });
  t.deepEqual(await ordersOf(user), [
    'a "quote", a comma,\r\nand two lines|9.00|y 9.00',
    'alone|2.00|x 2.00',
    'half bad|13.00|b1 1.00+b2 9.00+b3 3.00',
    'padded|9.00|z 9.00',
    'whole|3.00|a1 1.00+a2 2.00',
    '|4.00|Imported order 4.00',
    '|9.00|c1 9.00',
  ]);
});

test('the columns keep their order with the reasons last', async (t) => {
  const user = await newUser();
  const sheets = [
    `单价;REASON;商品名称; 用户ID ;数量;;\nbad;old;茶;${user};1;;\n`,
    `单价;商品名称;失败原因; 用户ID ;数量\nbad;茶;old;${user};1\n`,
    `单价;商品名称; 用户ID ;数量\nbad;茶;${user};1\n`,
  ];
  for (const sheet of sheets) {
    const { id } = await imported(sheet);
    const { bytes, rows } = await errorFileOf(service.admin, id);
    const reason = '第 2 行。单价：必须是 0 到 10000000000000、最多两位小数的金额';
    t.deepEqual(rows, [
      ['单价', '商品名称', ' 用户ID ', '数量', 'reason'],
      ['bad', '茶', String(user), '1', reason],
    ]);
    const again = await imported(bytes);
    t.deepEqual((await errorFileOf(service.admin, again.id)).bytes, bytes);
    t.like(await imported(bytes.toString().replace('bad', '3')), { success_count: 1, failed_count: 0 });
  }
  t.is((await ordersOf(user)).length, sheets.length);
});

test('an error file of a GBK import is UTF-8', async (t) => {
  const user = await newUser();
  // 你好 in GBK.
  const gbk = Buffer.from([0xc4, 0xe3, 0xba, 0xc3]);
  const content = Buffer.concat([
    Buffer.from(`user_id,remark,amount\n${user},`),
    ...[gbk, Buffer.from(`,bad\n${user},good,1\n`)],
  ]);
  for (const dry_run of ['true', 'false']) {
    const fields = { dry_run };
    const { id, success_count } = await imported(content, fields);
    t.is(success_count, 1);
    const { bytes, rows } = await errorFileOf(english, id);
    t.deepEqual(rows[1]?.slice(0, 3), [String(user), '你好', 'bad']);
    const { order_count } = await imported(bytes.toString().replace('bad', '2'), fields);
    t.is(order_count, 1);
    const made = ['good|1.00|Imported order 1.00', '你好|2.00|Imported order 2.00'];
    t.deepEqual(await ordersOf(user), dry_run === 'true' ? [] : made);
  }
});

test('no cell of an error file runs as a formula', async (t) => {
  const user = await newUser();
  const remarks = ['=1+1', '+1', '-1', '@x', '＝1', ' =1', '\t=1', "'=1", "'tis", '"\n=1"', '-'];
  const rows = remarks.map((remark) => `${user},${remark},bad`);
  const { id } = await imported(`user_id,remark,amount\n${rows.join('\n')}`);
  const { bytes, rows: failed } = await errorFileOf(english, id);
  for (const [, remark] of failed) t.notRegex(remark as string, /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/);
  await imported(bytes.toString().replaceAll(',bad,', ',1,'));
  const direct = await newUser();
  await imported(`user_id,remark,amount\n${remarks.map((remark) => `${direct},${remark},1`).join('\n')}`);
  t.is((await ordersOf(user)).length, remarks.length);
  t.deepEqual(await ordersOf(user), await ordersOf(direct));
});

test('a row too long to return stays refused', async (t) => {
  const user = await newUser();
  const blanks = ' '.repeat(2000);
  const rows = [
    // Cut off in the middle it would be an amount.
    `${user},cut,1${blanks}x,`,
    `${user},,${blanks}bad,`,
    `${user},"${'""'.repeat(15_000)}",1,`,
    // A bare separator of thousands: without the last cell it would be another amount.
    `${user},thousand,1,000`,
    `${user},many,1,,${'=1,'.repeat(10_000)}`,
    `${user},last,bad,`,
  ];
  const { id, failed_count } = await imported(`user_id,remark,amount,\n${rows.join('\n')}`);
  t.is(failed_count, 6);
  const { bytes, rows: failed } = await errorFileOf(english, id);
  t.deepEqual(
    failed.map(([, remark, amount, , ...surplus]) => [remark, amount, ...surplus]),
    [
      ['remark', 'amount'],
      ['cut', `1${' '.repeat(999)}…`],
      ['', 'bad'],
      [`${'"'.repeat(1000)}…`, '1'],
      ['thousand', '1', '000'],
      ['many', '1', ...Array<string>(5).fill("'=1")],
      ['last', 'bad'],
    ],
  );
  const again = await imported(bytes.toString().replaceAll(',bad,', ',7,'));
  t.like(again, { status: 1, error_msg: null, success_count: 2, failed_count: 4 });
  const name = 'Imported order 7.00';
  t.deepEqual(await ordersOf(user), [`last|7.00|${name}`, `|7.00|${name}`]);
});

test('failed rows that expired are reported as missing', async (t) => {
  const user = await newUser();
  const { id } = await imported(`user_id,amount\n${user},bad\n${user},worse\n`);
  await change('DELETE FROM import_errors WHERE import_id = ? AND row_no = 3', [id]);
  await t.throwsAsync(english.download(`/imports/${id}/error-file`));
  const [row] = await select<{ storage_key: string }>('SELECT storage_key FROM imports WHERE id = ?', [id]);
  await (await storage()).remove(row?.storage_key as string);
  t.is((await english.get(`/imports/${id}/error-file`)).errorCode, 'import_errors_missing');
  // As imports are that ended before files of failed rows were stored.
  await change('DELETE FROM stored_files WHERE storage_key = ?', [row?.storage_key as string]);
  t.is((await english.get(`/imports/${id}`)).data.error_file_url, null);
  t.is((await english.get(`/imports/${id}/errors`)).data.total, 1);
});
