// POST /orders/import and /imports: what a file of orders becomes, and what is said about the rest of it. And the file of its failed
// rows as they were sent, which become orders when they are corrected and sent again.
import '../support/settings/shared-environment.js';
import test from 'ava';
import { change, select } from '../../src/lib/database/db.js';
import { storage } from '../../src/lib/storage/index.js';
import { outcome, type Answer, type Client } from '../support/client.js';
import { makeUser } from '../support/factories.js';
import { concluded, errorFileOf, startImport } from '../support/imports.js';
import { selectRow } from '../support/rows.js';
import { service } from '../support/shared-service.js';
import { until } from '../support/until.js';

const { admin } = service;
const english = admin.with({ 'Accept-Language': 'en-US' });
const { id: userId } = await makeUser(admin);

const head = 'user_id,amount,remark,order_ref,product_id,product_name,price,quantity';

/** Sends a file and waits for the end of its import. */
async function imported(
  content: string | Uint8Array,
  fields: Record<string, string> = {},
  caller = english,
): Promise<Answer> {
  const answer = await caller.upload('/orders/import', content, { filename: 'orders.csv', fields });
  if (answer.status !== 200 || answer.data.status !== 0) return answer;
  const record = await ended(answer.data.import_id, caller);
  const { list } = (await caller.get(`/imports/${record.id}/errors?page_size=100`)).data;
  return { ...answer, data: { ...record, import_id: record.id, errors: list } };
}

/** The record of an import once it has ended. */
const ended = (id: number, caller = english) =>
  until(async () => {
    const { data } = await caller.get(`/imports/${id}`);
    return data.status !== 0 && data;
  }, 120_000);

const send = (rows: string[], fields?: Record<string, string>, caller?: Client) =>
  imported([head, ...rows].join('\r\n'), fields, caller);

/** The orders of a user as [amount, remark, lines], in the order they were made. */
async function ordersOf(user: number): Promise<[string, string | null, string][]> {
  const rows = await select<{ amount: string; remark: string | null; line: string }>(
    `SELECT o.amount, o.remark, GROUP_CONCAT(CONCAT_WS('|', d.product_id, d.product_name, d.price, d.quantity, d.subtotal)
       ORDER BY d.id SEPARATOR ';') AS line
     FROM orders o JOIN order_details d ON d.order_no = o.order_no AND d.period = o.period
     WHERE o.user_id = ? GROUP BY o.id, o.amount, o.remark ORDER BY o.id`,
    [user],
  );
  return rows.map(({ amount, remark, line }) => [amount, remark, line]);
}

const newUser = async (): Promise<number> => (await makeUser(admin)).id;

test('rows become the same pending orders as POST /orders creates', async (t) => {
  const user = await newUser();
  const answer = await send([
    `${user},,first,,7,Tea,12.30,3`,
    `${user},5.00,,A,,Cup,2.5,2`,
    `${user},9.99,only an amount,,,,,`,
    ``,
    `${user},,,,,"A ""quoted"",
name",1,1`,
    `${user},,"""Fragile""
with care",,,"""Cup
of tea""",1,1`,
  ]);
  t.deepEqual([answer.status, answer.data.status, answer.data.error_msg], [200, 1, null]);
  t.like(answer.data, { total_rows: 5, success_count: 5, failed_count: 0, order_count: 5, errors: [] });
  t.deepEqual(await ordersOf(user), [
    ['36.90', 'first', '7|Tea|12.30|3|36.90'],
    ['5.00', null, 'Cup|2.50|2|5.00'],
    ['9.99', 'only an amount', 'Imported order|9.99|1|9.99'],
    ['1.00', null, 'A "quoted",\nname|1.00|1|1.00'],
    ['1.00', '"Fragile"\nwith care', '"Cup\nof tea"|1.00|1|1.00'],
  ]);
  const { data } = await admin.get(`/orders?user_id=${user}`);
  t.is(data.total, 5);
  t.regex(data.list[0].order_no, /^ORD\d{6}[0-9A-HJKMNP-TV-Z]{26}$/);
  t.like(data.list[0], { status: 'pending', expire_at: null, paid_at: null });
});

test('columns are found in any order, language and letter case', async (t) => {
  const user = await newUser();
  const sheets = [
    `数量,单价,商品名称,用户ID\n2,1.50,茶,${user}\n`,
    `数量;单价;商品名称;用户ID\r\n2;1.50;茶;${user}`,
    ` PRICE\tQuantity\tproduct_name\t用户id\r1.50\t2\t茶\t ${user} \r`,
    `\ufeff"price","quantity","product_name","user_id","",""\r\n"1.50","2","茶","${user}","",""\r\n\r\n`,
  ];
  for (const sheet of sheets) {
    const { data, text } = await imported(sheet);
    t.like(data, { status: 1, total_rows: 1, success_count: 1 }, text);
  }
  t.deepEqual(
    await ordersOf(user),
    sheets.map(() => ['3.00', null, '茶|1.50|2|3.00']),
  );
});

test('the user of an order can be given by name, by number, or by both', async (t) => {
  const [user, other] = [await newUser(), await newUser()];
  const name = (await admin.get(`/users/${user}`)).data.username as string;
  const { data } = await imported(
    `user_id,username,amount,remark\n,${name.toUpperCase()},1,by name\n${user},${name},2,by both\n${other},${name},3,\n,nobody-of-that-name,4,\n,,5,\n`,
  );
  t.deepEqual(await ordersOf(user), [
    ['1.00', 'by name', 'Imported order|1.00|1|1.00'],
    ['2.00', 'by both', 'Imported order|2.00|1|2.00'],
  ]);
  t.deepEqual(
    data.errors.map(({ row, column, reason }: Record<string, unknown>) => [row, column, reason]),
    [
      [4, 'username', `is not the name of user ${other}`],
      [5, 'username', 'The user does not exist'],
      [6, 'user_id', 'is required'],
    ],
  );
});

test('the encoding is detected wherever a character is cut', async (t) => {
  // 你好 in GBK; rows of odd and even length put every byte of it on a border of what is read at once.
  const gbk = Buffer.from([0xc4, 0xe3, 0xba, 0xc3]);
  const user = await newUser();
  const filler = 'x'.repeat(180);
  for (const shift of [0, 1]) {
    const rows: Buffer[] = [Buffer.from(`remark${' '.repeat(shift)},user_id,amount,product_name\n`)];
    for (let row = 0; row < 2000; row++)
      rows.push(gbk, gbk, Buffer.from(`,${user},1,${filler}`), gbk, Buffer.from('\n'));
    const { data, text } = await imported(Buffer.concat(rows), { dry_run: 'true' });
    t.like(data, { status: 1, total_rows: 2000, success_count: 2000 }, text);
  }
  const sheet = `用户ID,金额,备注\n${user},1,你好\n`;
  const utf16 = Buffer.from(`\ufeff${sheet}`, 'utf16le');
  const gbkSheet = Buffer.concat([Buffer.from(`user_id,amount,remark\n${user},1,`), gbk]);
  for (const content of [utf16, Buffer.from(utf16).swap16(), gbkSheet, Buffer.from(sheet)])
    t.is((await imported(content)).data.success_count, 1);
  const orders = await ordersOf(user);
  t.deepEqual([...new Set(orders.map(([, remark]) => remark))], ['你好']);
  t.is(orders.length, 4);
});

test('rows with the same order_ref are one order', async (t) => {
  const user = await newUser();
  const { data } = await send([
    `${user},,the first,A,,a1,1,1`,
    `${user},,alone,,,x,9,1`,
    `,6,,A,,a2,2,1`,
    `${user},,,B,,b1,10,1`,
    `,,,B,,b2,20,2`,
    `,6.00,the first,A,,a3,3,1`,
    `${user},,,b,,other,5,1`,
  ]);
  t.like(data, { status: 1, total_rows: 7, success_count: 7, order_count: 4 });
  t.deepEqual((await ordersOf(user)).sort(), [
    ['5.00', null, 'other|5.00|1|5.00'],
    ['50.00', null, 'b1|10.00|1|10.00;b2|20.00|2|40.00'],
    ['6.00', 'the first', 'a1|1.00|1|1.00;a2|2.00|1|2.00;a3|3.00|1|3.00'],
    ['9.00', 'alone', 'x|9.00|1|9.00'],
  ]);
});

test('scattered rows of many orders are collected', async (t) => {
  const [user, orders] = [await newUser(), 2000];
  const rows = [1, 2].flatMap((price) =>
    Array.from({ length: orders }, (_, order) => `${user},,,R${order},,p,${price},1`),
  );
  const { data } = await send(rows);
  t.like(data, { status: 1, success_count: 2 * orders, order_count: orders });
  const made = await selectRow<{ orders: number; whole: string }>(
    'SELECT COUNT(*) AS orders, SUM(amount = 3) AS whole FROM orders WHERE user_id = ?',
    [user],
  );
  t.deepEqual([made.orders, Number(made.whole)], [orders, orders]);
});

test('an order has at most 200 lines', async (t) => {
  const user = await newUser();
  const together = Array.from({ length: 200 }, () => `${user},,,A,,p,1,1`);
  const scattered = Array.from({ length: 201 }, (_, row) => [
    `${user},,,B,,p,1,1`,
    `${user},1,,C${row},,,,`,
  ]).flat();
  const { data } = await send([...together, ...scattered]);
  t.like(data, { status: 1, total_rows: 602, success_count: 401, failed_count: 201, order_count: 202 });
  t.deepEqual(data.errors[0], {
    ...{ row: 202, column: 'order_ref', value: 'B' },
    reason: 'An order may have 200 rows at most',
  });
});

test('every invalid value is reported with its row, column, value and reason', async (t) => {
  const user = await newUser();
  const disabled = await newUser();
  await change('UPDATE users SET status = 0 WHERE id = ?', [disabled]);
  const long = '长'.repeat(501);
  const rows = [
    `${user},,,,,good,1,1`,
    `,,,,,no user,1,1`,
    `0,,,,,x,1,1`,
    `1e3,,,,,x,1,1`,
    `999999999,,,,,x,1,1`,
    `${disabled},,,,,x,1,1`,
    `${user},,,,,x,1.005,1`,
    `${user},,,,,x,-1,1`,
    `${user},,,,,x,"1,000",1`,
    `${user},,,,,x,10000000000000.01,1`,
    `${user},,,,,x,1,0`,
    `${user},,,,,x,1,1.5`,
    `${user},,,,,x,1,1000001`,
    `${user},,,,-7,x,1,1`,
    `${user},,,,,,1,1`,
    `${user},,,,,x,,`,
    `${user},,,,,x,,2`,
    `${user},,,,,,,`,
    `${user},5,,,,x,2,2`,
    `${user},,${long},,,x,1,1`,
    `${user},,,,,${long.slice(0, 201)},1,1`,
    `${user},,,${'r'.repeat(65)},,x,1,1`,
    `${user},,,,,x,1,1,surplus`,
    `${user},,,,,x,10000000000000,2`,
    `x,y,,,z,,q,0`,
    `${user},,,,,x,1,`,
    `${user},5,,,,x,5,`,
    `${user},,,,,\u200b,1,1`,
    `999999999,,,,,x,1.005,0`,
  ];
  const { data } = await send(rows);
  t.like(data, { status: 1, total_rows: 29, success_count: 1, failed_count: 28, order_count: 1 });
  const reasons = data.errors.map(
    ({
      row,
      column,
      value,
      reason,
    }: {
      row: number;
      column: string | null;
      value: string | null;
      reason: string;
    }) => [row, column, value, reason],
  );
  const money = 'must be an amount from 0 to 10000000000000 with at most two decimals';
  const quantity = 'must be an integer from 1 to 1000000';
  const key = 'must be a positive integer';
  t.deepEqual(reasons, [
    [3, 'user_id', '', 'is required'],
    [4, 'user_id', '0', key],
    [5, 'user_id', '1e3', key],
    [6, 'user_id', '999999999', 'The user does not exist'],
    [7, 'user_id', String(disabled), 'The user is disabled'],
    [8, 'price', '1.005', money],
    [9, 'price', '-1', money],
    [10, 'price', '1,000', money],
    [11, 'price', '10000000000000.01', money],
    [12, 'quantity', '0', quantity],
    [13, 'quantity', '1.5', quantity],
    [14, 'quantity', '1000001', quantity],
    [15, 'product_id', '-7', key],
    [16, 'product_name', '', 'is required'],
    [17, 'price', '', 'is required'],
    [17, 'quantity', '', 'is required'],
    [18, 'price', '', 'is required'],
    [19, 'product_name', '', 'is required'],
    [19, 'price', '', 'is required'],
    [19, 'quantity', '', 'is required'],
    [20, 'amount', '5.00', 'is not the sum of the details, 4.00'],
    [21, 'remark', long.slice(0, 200), 'must be at most 500 characters long'],
    [22, 'product_name', long.slice(0, 200), 'must be at most 200 characters long'],
    [23, 'order_ref', 'r'.repeat(65), 'must be at most 64 characters long'],
    [24, '', 'surplus', 'The row has more cells than the header row'],
    [25, 'amount', '', 'The amount of the order is too large'],
    [26, 'user_id', 'x', key],
    [26, 'amount', 'y', money],
    [26, 'product_id', 'z', key],
    [26, 'price', 'q', money],
    [26, 'quantity', '0', quantity],
    [26, 'product_name', '', 'is required'],
    [27, 'quantity', '', 'is required'],
    [28, 'quantity', '', 'is required'],
    [29, 'product_name', '', 'is required'],
    [30, 'user_id', '999999999', 'The user does not exist'],
    [30, 'price', '1.005', money],
    [30, 'quantity', '0', quantity],
  ]);
  t.is((await ordersOf(user)).length, 1);
  const chinese = await send([rows[1] as string, rows[7] as string], {}, admin);
  t.deepEqual(
    chinese.data.errors.map((error: { reason: string }) => error.reason),
    ['必填', '必须是 0 到 10000000000000、最多两位小数的金额'],
  );
});

test('a file without prices is asked for amounts, not for columns that it lacks', async (t) => {
  const user = await newUser();
  const rows = [`${user},,no amount`, `${user}`, `${user},x,`, `${user},2,`];
  const { data } = await imported(['user_id,amount,remark', ...rows].join('\n'));
  t.like(data, { success_count: 1, failed_count: 3 });
  t.deepEqual(
    data.errors.map(({ row, column, reason }: Record<string, string>) => [row, column, reason]),
    [
      [2, 'amount', 'is required'],
      [3, 'amount', 'is required'],
      [4, 'amount', 'must be an amount from 0 to 10000000000000 with at most two decimals'],
    ],
  );
});

test('an order with an invalid or contradicting row is not imported', async (t) => {
  const [user, other] = [await newUser(), await newUser()];
  const { data } = await send([
    `${user},,same,A,,x,1,1`,
    `${other},,different,A,,x,bad,1`,
    `${user},,,A,,x,1,1`,
    `${user},3,,B,,x,1,1`,
    `${user},2,,B,,x,2,1`,
    `${user},,,C,,x,1,1`,
  ]);
  t.like(data, { status: 1, total_rows: 6, success_count: 1, failed_count: 5, order_count: 1 });
  t.deepEqual(
    data.errors.map(({ row, column, value, reason }: Record<string, unknown>) => [
      row,
      column,
      value,
      reason,
    ]),
    [
      [2, 'order_ref', 'A', 'Row 3 of the same order is not acceptable, so the order was not imported'],
      [3, 'price', 'bad', 'must be an amount from 0 to 10000000000000 with at most two decimals'],
      [3, 'user_id', String(other), 'differs from row 2 of the same order'],
      [3, 'remark', 'different', 'differs from row 2 of the same order'],
      [4, 'order_ref', 'A', 'Row 3 of the same order is not acceptable, so the order was not imported'],
      [5, 'order_ref', 'B', 'Row 6 of the same order is not acceptable, so the order was not imported'],
      [6, 'amount', '2.00', 'differs from row 5 of the same order'],
    ],
  );
  t.deepEqual((await ordersOf(user)).concat(await ordersOf(other)), [['1.00', null, 'x|1.00|1|1.00']]);
});

test('a long remark that differs within an order is reported by its first 200 characters', async (t) => {
  const user = await newUser();
  const long = 'r'.repeat(500);
  const { data } = await send([`${user},,same,A,,x,1,1`, `${user},,${long},A,,x,1,1`, `${user},,,,,x,1,1`]);
  t.like(data, { status: 1, error_msg: null, success_count: 1, failed_count: 2 });
  t.like(data.errors[1], { row: 3, column: 'remark', value: long.slice(0, 200) });
});

test('a dry run imports nothing', async (t) => {
  const user = await newUser();
  const rows = [`${user},,,,,x,1,1`, `${user},,,,,x,bad,1`, `999999999,,,,,x,1,1`];
  const { data } = await send(rows, { dry_run: 'true' });
  t.like(data, { status: 1, total_rows: 3, success_count: 1, failed_count: 2, order_count: 1 });
  t.is(data.errors.length, 2);
  t.deepEqual(await ordersOf(user), []);
  t.is((await admin.get(`/imports/${data.import_id}`)).data.dry_run, true);
  t.is((await send(rows, { dry_run: 'maybe' })).status, 400);
  const content = [head, ...rows].join('\r\n');
  const inQuery = await admin.upload('/orders/import?dry_run=1', content, { filename: 'orders.csv' });
  t.like(inQuery.data, { success_count: 1, order_count: 1 });
  t.is((await admin.get(`/imports/${inQuery.data.import_id}`)).data.dry_run, true);
  t.deepEqual(await ordersOf(user), []);
});

test('formulas are imported as text', async (t) => {
  const user = await newUser();
  const { data } = await send([
    `${user},,'=1+1,,,'+name,1,1`,
    `${user},,'tis fine,,,'@x,1,1`,
    `${user},,=cmd|' /C calc'!A0,,,x,1,1`,
    `=HYPERLINK(),,,,,x,@1,`,
  ]);
  t.like(data, { success_count: 3, failed_count: 1 });
  t.deepEqual(
    (await ordersOf(user)).map(([, remark, line]) => [remark, line.split('|')[0]]),
    [
      ['=1+1', '+name'],
      [`'tis fine`, '@x'],
      [`=cmd|' /C calc'!A0`, 'x'],
    ],
  );
  const file = (await english.download(`/imports/${data.import_id}/error-file`)).bytes.toString();
  t.true(file.startsWith(`\ufeff${head},reason\r\n'=HYPERLINK(),,,,,x,'@1,,`), file);
});

test('a file that is no order sheet is refused at once', async (t) => {
  const good = `${head}\n${userId},,,,,x,1,1\n`;
  const gzip = Buffer.from('504b03041400060008000000', 'hex');
  const refusals: [string, string | Uint8Array, string, RegExp, RegExp][] = [
    ['a.xlsx', good, 'import_not_csv', /CSV/, /CSV/],
    ['csv', good, 'import_not_csv', /CSV/, /CSV/],
    ['a.csv', gzip, 'import_not_csv', /CSV/, /CSV/],
    ['a.csv', good.replace('x', 'a\0b'), 'import_not_csv', /CSV/, /CSV/],
    ['a.csv', Buffer.from([0x61, 0x2c, 0xff, 0xff, 0x0a]), 'import_encoding_unknown', /GBK/, /GBK/],
    ['a.csv', Buffer.from([...Buffer.from(good), 0xe4]), 'import_encoding_unknown', /GBK/, /GBK/],
    ['a.csv', head, 'import_rows_missing', /数据行/, /no rows/],
    ['a.csv', `${head}\r\n\r\n ,,\r\n`, 'import_rows_missing', /数据行/, /no rows/],
    // It is not read to its end: more blank lines would take minutes.
    ['a.csv', `${'\n'.repeat(10_001)}${good}`, 'import_rows_missing', /数据行/, /no rows/],
    ['a.csv', `${head},colour\n1\n`, 'import_head_invalid', /未知列 colour/, /unknown colour/],
    ['a.csv', `user_id,,amount\n1\n`, 'import_head_invalid', /未知列 #2/, /unknown #2/],
    [
      'a.csv',
      `amount,amount,金额\n1\n`,
      'import_head_invalid',
      /缺少列 用户ID; 重复列 金额/,
      /missing user_id; repeated amount/,
    ],
    ['a.csv', `user_id,price\n1\n`, 'import_head_invalid', /缺少列 商品名称/, /missing product_name/],
    [
      'a.csv',
      `user_id,remark\n1\n`,
      'import_head_invalid',
      /商品名称, 单价, 数量/,
      /product_name, price, quantity/,
    ],
    ['a.csv', `user_id,product_name,price\n1\n`, 'import_head_invalid', /缺少列 数量/, /missing quantity/],
    ['a.csv', `${','.repeat(100_000)}\n1\n`, 'import_head_invalid', /缺少列/, /missing/],
    ['a.csv', 'x'.repeat(1_000_000), 'import_file_invalid', /第 1 行/, /row 1 /],
    ['a.csv', ','.repeat(2_000_000), 'import_line_too_long', /过长/, /too long/],
    ['a.csv', `${head}\n"${'"",'.repeat(50_000)}`, 'import_file_invalid', /第 2 行/, /row 2 /],
    ['a.csv', `${head}\n1,5,\n1,6,"abc\n1,7,d\n1,8,"e"\n1,9,\n`, 'import_file_invalid', /第 3 行/, /row 3 /],
  ];
  for (const [filename, content, slug, zh, en] of refusals) {
    const [chinese, inEnglish] = await Promise.all(
      [admin, english].map((caller) => caller.upload('/orders/import', content, { filename })),
    );
    for (const [answer, text] of [
      [chinese, zh],
      [inEnglish, en],
    ] as [Answer, RegExp][]) {
      t.deepEqual(outcome(answer), [422, 30004, slug]);
      t.regex(answer.errors?.file?.[0] ?? '', text);
      t.true(answer.text.length < 1000);
    }
  }
  t.is((await admin.upload('/orders/import', '', { filename: 'a.csv' })).status, 422);
  t.is((await admin.post('/orders/import', {})).status, 400);
  t.is((await admin.upload('/orders/import', good, { filename: 'a.csv', part: 'other' })).status, 400);
  t.deepEqual(await select("SELECT id FROM imports WHERE filename <> 'orders.csv'"), []);
});

test('a file that becomes unreadable fails as a whole', async (t) => {
  const user = await newUser();
  const many = Array.from({ length: 1000 }, (_, row) => `${user},1,${row},,,,,`);
  const broken = [...many, `${user},1,"never closed,,,,,`, `${user},1,,,,,,`];
  for (const [caller, reason] of [
    [english, /^The file cannot be read from row 1002 on/],
    [admin, /^从第 1002 行起无法读取/],
  ] as const) {
    const { data } = await send(broken, {}, caller);
    t.like(data, { status: 2, total_rows: null, success_count: 0 });
    t.regex(data.error_msg, reason);
  }
  const long = await send([...many, `${user},1,"${'x'.repeat(70_000)}",,,,,`]);
  t.regex(long.data.error_msg, /row 1002 /);
  t.deepEqual(await ordersOf(user), []);
});

test.serial('more than a million rows are refused before anything is imported', async (t) => {
  const user = await newUser();
  const { data } = await imported(`user_id,amount\n${`${user},1\n`.repeat(1_000_001)}`);
  t.like(data, {
    ...{ status: 2, success_count: 0 },
    error_msg: 'The file has more than 1000000 rows of data',
  });
  t.deepEqual(await ordersOf(user), []);
});

/** Imports a file. @returns its record when everything that follows its end is done */
async function concludedImport(content: string | Uint8Array, fields?: Record<string, string>): Promise<any> {
  const id = await startImport(english, content, fields);
  await concluded(id, 120_000);
  return (await english.get(`/imports/${id}`)).data;
}

const shortHead = 'user_id,amount,remark,order_ref,product_name,price,quantity';

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
  const first = await concludedImport([shortHead, ...rows].join('\r\n'));
  t.like(first, { status: 1, success_count: 3, failed_count: 7, order_count: 2 });
  const { bytes, rows: failed } = await errorFileOf(english, first.id);
  const money = 'price: must be an amount from 0 to 10000000000000 with at most two decimals';
  const innocent = 'order_ref: Row 5 of the same order is not acceptable, so the order was not imported';
  t.deepEqual(failed, [
    [...shortHead.split(','), 'reason'],
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
  const unchanged = await concludedImport(bytes);
  t.like(unchanged, { success_count: 0, failed_count: 7 });
  const corrected = bytes
    .toString()
    .replaceAll(/,(bad|x),/g, ',9,')
    .replace(`${user},,,,,`, `${user},4,,,,`);
  t.like(await concludedImport(corrected), { status: 1, success_count: 7, failed_count: 0, order_count: 5 });
  t.deepEqual((await ordersOf(user)).sort(), [
    ['13.00', 'half bad', 'b1|1.00|1|1.00;b2|9.00|1|9.00;b3|3.00|1|3.00'],
    ['2.00', 'alone', 'x|2.00|1|2.00'],
    ['3.00', 'whole', 'a1|1.00|1|1.00;a2|2.00|1|2.00'],
    ['4.00', null, 'Imported order|4.00|1|4.00'],
    ['9.00', null, 'c1|9.00|1|9.00'],
    ['9.00', 'a "quote", a comma,\r\nand two lines', 'y|9.00|1|9.00'],
    ['9.00', 'padded', 'z|9.00|1|9.00'],
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
    const { id } = await concludedImport(sheet);
    const { bytes, rows } = await errorFileOf(admin, id);
    const reason = '第 2 行。单价：必须是 0 到 10000000000000、最多两位小数的金额';
    t.deepEqual(rows, [
      ['单价', '商品名称', ' 用户ID ', '数量', 'reason'],
      ['bad', '茶', String(user), '1', reason],
    ]);
    const again = await concludedImport(bytes);
    t.deepEqual((await errorFileOf(admin, again.id)).bytes, bytes);
    t.like(await concludedImport(bytes.toString().replace('bad', '3')), {
      success_count: 1,
      failed_count: 0,
    });
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
    const { id, success_count } = await concludedImport(content, fields);
    t.is(success_count, 1);
    const { bytes, rows } = await errorFileOf(english, id);
    t.deepEqual(rows[1]?.slice(0, 3), [String(user), '你好', 'bad']);
    const { order_count } = await concludedImport(bytes.toString().replace('bad', '2'), fields);
    t.is(order_count, 1);
    const made = [
      ['1.00', 'good', 'Imported order|1.00|1|1.00'],
      ['2.00', '你好', 'Imported order|2.00|1|2.00'],
    ];
    t.deepEqual(await ordersOf(user), dry_run === 'true' ? [] : made);
  }
});

test('no cell of an error file runs as a formula', async (t) => {
  const user = await newUser();
  const remarks = ['=1+1', '+1', '-1', '@x', '＝1', ' =1', '\t=1', "'=1", "'tis", '"\n=1"', '-'];
  const rows = remarks.map((remark) => `${user},${remark},bad`);
  const { id } = await concludedImport(`user_id,remark,amount\n${rows.join('\n')}`);
  const { bytes, rows: failed } = await errorFileOf(english, id);
  for (const [, remark] of failed) t.notRegex(remark as string, /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/);
  await concludedImport(bytes.toString().replaceAll(',bad,', ',1,'));
  const direct = await newUser();
  await concludedImport(
    `user_id,remark,amount\n${remarks.map((remark) => `${direct},${remark},1`).join('\n')}`,
  );
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
  const { id, failed_count } = await concludedImport(`user_id,remark,amount,\n${rows.join('\n')}`);
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
  const again = await concludedImport(bytes.toString().replaceAll(',bad,', ',7,'));
  t.like(again, { status: 1, error_msg: null, success_count: 2, failed_count: 4 });
  const line = 'Imported order|7.00|1|7.00';
  t.deepEqual((await ordersOf(user)).sort(), [
    ['7.00', null, line],
    ['7.00', 'last', line],
  ]);
});

test('failed rows that expired are reported as missing', async (t) => {
  const user = await newUser();
  const { id } = await concludedImport(`user_id,amount\n${user},bad\n${user},worse\n`);
  await change('DELETE FROM import_errors WHERE import_id = ? AND row_no = 3', [id]);
  await t.throwsAsync(english.download(`/imports/${id}/error-file`));
  const { storage_key } = await selectRow<{ storage_key: string }>(
    'SELECT storage_key FROM imports WHERE id = ?',
    [id],
  );
  await (await storage()).remove(storage_key);
  t.is((await english.get(`/imports/${id}/error-file`)).errorCode, 'import_errors_missing');
  // As imports are that ended before files of failed rows were stored.
  await change('DELETE FROM stored_files WHERE storage_key = ?', [storage_key]);
  t.is((await english.get(`/imports/${id}`)).data.error_file_url, null);
  t.is((await english.get(`/imports/${id}/errors`)).data.total, 1);
});
