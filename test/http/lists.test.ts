// Rules of every list, of every time in requests and answers, and of every text: invisible characters are refused with an error
// that names the field.
import '../support/settings/shared-environment.js';
import test from 'ava';
import Joi from 'joi';
import { insert } from '../../src/lib/database/db.js';
import { routes } from '../../src/api/routes.js';
import { makePayment, unique, makeUser, signedInWith } from '../support/factories.js';
import { paidPayment } from '../support/refunds.js';
import { service } from '../support/shared-service.js';
import { outcome } from '../support/client.js';
import { concluded, startImport } from '../support/imports.js';
import { until } from '../support/until.js';

const { admin } = service;

const wrongType = [400, 30001, 'validation_failed'];
const wrongFormat = [422, 30004, 'format_invalid'];

/** Roles of one name whose rows were made at these instants. */
async function rolesMadeAt(instants: string[]): Promise<string> {
  const prefix = unique('T');
  for (const [index, at] of instants.entries()) {
    const values = [`${prefix} ${index}`, `${prefix}-${index}`, new Date(at), new Date(at)];
    await insert('INSERT INTO roles (name, slug, created_at, updated_at) VALUES (?, ?, ?, ?)', values);
  }
  return prefix;
}

test('page and page_size are clamped to their range', async (t) => {
  const shape = async (query: string) => {
    const { data } = await admin.get(`/permissions?${query}`);
    return [data.page, data.page_size, data.list.length];
  };
  t.deepEqual(await shape(''), [1, 10, 10]);
  t.deepEqual(await shape('page=0&page_size=0'), [1, 10, 10]);
  t.deepEqual(await shape('page=-7&page_size=-1'), [1, 10, 10]);
  t.deepEqual(await shape('page=&page_size='), [1, 10, 10]);
  t.deepEqual(await shape('page_size=3&page=2'), [2, 3, 3]);
  t.deepEqual(await shape('page_size=101'), [1, 100, 100]);
  t.deepEqual(await shape('page_size=999999999'), [1, 100, 100]);
  t.deepEqual(await shape('page=900000000000000'), [1_000_000_000, 10, 0]);
  for (const query of [
    'page=x',
    'page=1.5',
    'page=1e3',
    'page=0x1',
    'page_size=ten',
    'page=1&page=2',
    'page=99999999999999999999',
  ]) {
    t.deepEqual(outcome(await admin.get(`/permissions?${query}`)), wrongType, query);
  }
});

test('pages follow each other without gaps', async (t) => {
  const prefix = await rolesMadeAt(Array.from({ length: 7 }, () => '2024-01-01T00:00:00Z'));
  const pages = await Promise.all(
    [1, 2, 3].map((page) => admin.get(`/roles?name=${prefix}&page_size=3&page=${page}&order_by=status:asc`)),
  );
  const ids = pages.flatMap(({ data }) => data.list.map(({ id }: { id: number }) => id));
  t.deepEqual(
    ids,
    [...new Set(ids)].sort((one, other) => other - one),
  );
  t.deepEqual(
    pages.map(({ data }) => [data.total, data.list.length]),
    [
      [7, 3],
      [7, 3],
      [7, 1],
    ],
  );
});

test('order_by accepts only sortable fields', async (t) => {
  const role = unique('O');
  for (const [name, sort] of [
    ['b', 1],
    ['a', 2],
    ['a', 1],
  ]) {
    await admin.post('/roles', { name: `${role}${name}`, slug: unique('o-'), sort });
  }
  const sorted = async (order: string) =>
    (await admin.get(`/roles?name=${role}&order_by=${encodeURIComponent(order)}`)).data.list.map(
      (row: { name: string; sort: number }) => `${row.name.at(-1)}${row.sort}`,
    );
  t.deepEqual(await sorted('name:asc,sort:desc'), ['a2', 'a1', 'b1']);
  t.deepEqual(await sorted('sort:desc, name:desc'), ['a2', 'b1', 'a1']);
  t.deepEqual(await sorted('name'), ['a1', 'a2', 'b1']);
  t.deepEqual(await sorted('id:DESC'), ['a1', 'a2', 'b1']);
  t.deepEqual(await sorted('name:desc,sort:asc,name:asc'), ['b1', 'a1', 'a2']);
  t.deepEqual(await sorted('name,'.repeat(2000).concat('sort:desc')), ['a2', 'a1', 'b1']);
  const refused = [
    'description:asc',
    'password_hash:asc',
    'id:up',
    'id:',
    ':asc',
    'id:asc,',
    'id asc',
    'r.id:asc',
    'id:asc;DROP TABLE roles',
    '(SELECT 1):asc',
  ];
  for (const order of refused) {
    const answer = await admin.get(`/roles?order_by=${encodeURIComponent(order)}`);
    t.deepEqual(outcome(answer), wrongFormat, order);
    t.deepEqual(answer.fields, ['order_by']);
  }
});

test('a fuzzy filter matches literally', async (t) => {
  const prefix = unique('L');
  // Decoded twice, the last two would be others.
  const names = ['%', '_', '\\', "'", '"', '?', 'x', '%41', '+'].map((sign) => `${prefix}${sign}-`);
  for (const name of names) await admin.post('/roles', { name, slug: unique('l-') });
  for (const name of names) {
    const { data } = await admin.get(`/roles?name=${encodeURIComponent(name)}`);
    t.deepEqual(
      data.list.map((row: { name: string }) => row.name),
      [name],
    );
  }
  t.is((await admin.get(`/roles?name=${prefix}`)).data.total, names.length);
});

test('a text that no number or code can contain matches nothing', async (t) => {
  await makePayment(admin);
  for (const filter of [
    'orders?order_no',
    'orders?order_no=ORD202',
    'payments?payment_no',
    'payments?third_party_no',
    'payment-methods?type',
    'user-balance-logs?source',
    'attachments?extension',
    'blacklists?ip',
    'operation-logs?trace_id',
    'system-logs?trace_id',
  ]) {
    for (const text of ['茶', '😀']) {
      const path = `/${filter}${filter.includes('=') ? '' : '='}${encodeURIComponent(text)}`;
      const { status, data } = await admin.get(path);
      t.deepEqual([status, data?.list, data?.total], [200, [], 0], path);
    }
  }
  const answer = await admin.post('/payments', { order_no: '茶', payment_method_id: 1 });
  t.deepEqual(outcome(answer), [422, 30003, 'order_unknown']);
});

test('start and end are inclusive in the request zone', async (t) => {
  const prefix = await rolesMadeAt([
    '2024-03-09T16:00:00.000Z',
    '2024-03-10T00:00:00.000Z',
    '2024-03-10T15:59:59.999Z',
    '2024-03-10T23:59:59.999Z',
  ]);
  const found = async (query: string, headers?: Record<string, string>) => {
    const { data, text, status } = await admin.get(`/roles?name=${prefix}&order_by=id:asc&${query}`, headers);
    return status === 200 ? data.list.map(({ name }: { name: string }) => Number(name.at(-1))) : text;
  };
  t.deepEqual(await found('start_time=2024-03-10&end_time=2024-03-10'), [1, 2, 3]);
  t.deepEqual(await found('start_date=2024-03-10&end_date=2024-03-10&timezone=Asia/Shanghai'), [0, 1, 2]);
  t.deepEqual(
    await found('start_time=2024-03-10&end_time=2024-03-10', { Timezone: 'America/New_York' }),
    [2, 3],
  );
  t.deepEqual(await found('start_time=2024-03-10 15:59:59'), [2, 3]);
  t.deepEqual(await found('end_time=2024-03-10T08:00:00&timezone=Asia/Shanghai'), [0, 1]);
  t.deepEqual(await found('end_time=2024-03-10T08:00:00%2B08:00&timezone=America/New_York'), [0, 1]);
  t.deepEqual(await found('end_time=2024-03-10T08:00:00+08:00'), [0, 1], 'a plus sign that was not encoded');
  t.deepEqual(await found('start_time=2024-03-10T15:59:59.999Z&end_time=2024-03-10T15:59:59.999Z'), [2]);
  for (const end of ['2024-03-10 23:59:59', '2024-03-10T23:59:59Z', '2024-03-10T23:59Z'])
    t.deepEqual(await found(`start_time=2024-03-10&end_time=${end}`), [1, 2, 3], end);
  t.deepEqual(await found('start_time=2024-03-10&end_time=2024-03-10T23:59:59.000Z'), [1, 2]);
  for (const start of ['2024-03-10T15:59:59.9Z', '2024-03-10T15:59:59.999000001Z'])
    t.deepEqual(await found(`start_time=${start}&end_time=2024-03-10T16:00:00Z`), [2], start);
  t.deepEqual(await found('start_time=2024-03-11&end_time=2024-03-09'), []);
  for (const zone of ['America/New_York', 'UTC', 'Asia/Shanghai'])
    t.deepEqual(
      await found(`start_time=1000-01-01&end_time=9999-12-31&timezone=${zone}`),
      [0, 1, 2, 3],
      zone,
    );
  const refused = [
    'yesterday',
    '2024-13-01',
    '2024-02-30',
    '2024-03-10T24:30:00',
    '2024-03-10T25:00:00',
    '20240310',
    '0000-01-01',
    '0999-12-31',
    '99999-01-01',
    '1710028800',
    '2024-03-10 08:00',
  ];
  for (const time of refused) {
    const answer = await admin.get(`/roles?start_time=${time}&timezone=Asia/Shanghai`);
    t.deepEqual(outcome(answer), wrongFormat, time);
    t.deepEqual(answer.fields, ['start_time']);
  }
});

test('the zone comes from the query, X-Timezone or Timezone, in this order', async (t) => {
  const prefix = await rolesMadeAt(['2024-07-01T00:00:00.123Z']);
  const shown = async (query: string, headers?: Record<string, string>): Promise<string> =>
    (await admin.get(`/roles?name=${prefix}${query}`, headers)).data.list[0].created_at;
  const both = { 'X-Timezone': 'Europe/Paris', Timezone: 'America/New_York' };
  t.is(await shown(''), '2024-07-01T00:00:00.123Z');
  t.is(await shown('&timezone=Asia/Shanghai', both), '2024-07-01T08:00:00.123+08:00');
  t.is(await shown('', both), '2024-07-01T02:00:00.123+02:00');
  t.is(await shown('&timezone=asia/shanghai'), '2024-07-01T08:00:00.123+08:00');
  t.is(await shown('', { Timezone: 'America/New_York' }), '2024-06-30T20:00:00.123-04:00');
  t.is(await shown('&timezone=', { Timezone: 'Asia/Kolkata' }), '2024-07-01T05:30:00.123+05:30');
  t.is(await shown('&timezone=UTC'), '2024-07-01T00:00:00.123+00:00');
});

test('an unknown zone is refused whichever source names it', async (t) => {
  for (const zone of [
    'Mars/Phobos',
    '+08:00',
    '__proto__',
    'constructor',
    'toString',
    'Asia/Shanghai,UTC',
    'x'.repeat(5000),
  ]) {
    for (const [query, headers] of [
      [`?timezone=${encodeURIComponent(zone)}`, {}],
      ['', { 'X-Timezone': zone }],
      ['', { Timezone: zone }],
    ]) {
      const answer = await admin.get(`/roles${query as string}`, headers as Record<string, string>);
      t.deepEqual(outcome(answer), [422, 30004, 'timezone_invalid']);
      t.deepEqual(answer.fields, ['timezone']);
    }
  }
  t.is((await service.anonymous.get('/login/captcha?check=1&timezone=nowhere')).status, 422);
});

test('a zone or a language given twice is refused', async (t) => {
  for (const name of ['timezone', 'language']) {
    const answer = await admin.get(`/info?${name}=UTC&${name}=UTC`, { 'Accept-Language': 'en-US' });
    t.deepEqual(outcome(answer), [400, 30001, 'validation_failed']);
    t.deepEqual(answer.errors, { [name]: ['must be given only once'] });
  }
});

test('the listed time fields are converted at any depth', async (t) => {
  const payment = await paidPayment(admin);
  const shown = (await admin.get(`/payments/${payment.payment_no}`, { 'X-Timezone': 'Asia/Shanghai' })).data;
  const local = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+08:00$/;
  for (const time of [shown.created_at, shown.updated_at, shown.pay_time, shown.callbacks[0].created_at])
    t.regex(time, local);
  t.regex(shown.callbacks[0].settled_at, /Z$/);
  const order = (await admin.get(`/orders/${payment.order_no}?timezone=Asia/Shanghai`)).data;
  t.regex(order.created_at, local);
  t.regex(order.paid_at, /Z$/);
  t.is(Date.parse(order.paid_at), Date.parse(shown.pay_time));
  t.is(order.amount, 12.3, 'amounts stay numbers');
});

const unseen = {
  NUL: '\0',
  ESC: '\u001b]0;x\u0007',
  DEL: '\u007f',
  'C1 control': '\u009b1A',
  'direction override': '\u202e',
  isolate: '\u2067',
  'half of a character': '\ud800',
};
const lineBreaks = { tab: '\t', 'line break': '\n', 'carriage return': '\r' };

/** A body that is accepted, and its texts: of one line, or of several. */
interface Sample {
  write: 'POST' | 'PUT';
  path: string;
  body: object;
  line?: string[];
  lines?: string[];
}

const userIn = async () => (await makeUser(admin)).id;

const samples: Record<string, () => Promise<Sample> | Sample> = {
  administrator: async () => {
    const own = await signedInWith(admin, []);
    const path = `/admins/${own.account?.id}`;
    return { write: 'PUT', path, body: {}, line: ['nickname', 'avatar'] };
  },
  role: () => ({
    write: 'POST',
    path: '/roles',
    body: { name: 'x', slug: unique('s') },
    line: ['name'],
    lines: ['description'],
  }),
  menu: () => ({
    write: 'POST',
    path: '/menus',
    body: { title: 'x', slug: unique('s'), type: 1 },
    line: ['title', 'icon', 'path', 'component'],
  }),
  permission: () => ({
    write: 'POST',
    path: '/permissions',
    body: { name: 'x', slug: unique('s'), method: 'GET', path: '/x' },
    line: ['name'],
    lines: ['description'],
  }),
  department: () => ({
    write: 'POST',
    path: '/departments',
    body: { name: unique('d') },
    line: ['name', 'code', 'leader'],
    lines: ['remark'],
  }),
  dictionary: () => ({
    write: 'POST',
    path: '/dictionaries',
    body: { name: 'x', code: unique('c') },
    line: ['name', 'code', 'value'],
    lines: ['description'],
  }),
  blacklist: () => ({
    write: 'POST',
    path: '/blacklists',
    body: { ip: `203.0.113.${50 + samplesMade++}` },
    lines: ['remark'],
  }),
  notification: () => ({
    write: 'POST',
    path: '/notifications',
    body: { title: 'x', content: 'x', receiver_id: 1 },
    line: ['title'],
    lines: ['content'],
  }),
  user: () => ({
    write: 'POST',
    path: '/users',
    body: { username: unique('u') },
    line: ['nickname', 'avatar'],
  }),
  balance: async () => ({
    write: 'POST',
    path: `/users/${await userIn()}/update-balance`,
    body: { amount: 1, type: 'income' },
    line: ['source_id'],
    lines: ['description'],
  }),
  order: async () => {
    const details = [{ product_name: 'x', price: 1, quantity: 1 }];
    return { write: 'POST', path: '/orders', body: { user_id: await userIn(), details }, lines: ['remark'] };
  },
  payment: async () => {
    const { id } = await makePayment(admin);
    return { write: 'PUT', path: `/payments/${id}`, body: {}, lines: ['remark'] };
  },
  'payment method': () => ({
    write: 'POST',
    path: '/payment-methods',
    body: { type: 'mock' },
    line: ['name'],
    lines: ['description'],
  }),
};
let samplesMade = 1;

for (const [what, sample] of Object.entries(samples))
  test(`texts of a ${what} contain no unseen characters`, async (t) => {
    const { write, path, body, line = [], lines = [] } = await sample();
    const send = (fields: string[], text: string) => {
      const texts = Object.fromEntries(fields.map((field) => [field, `a${text}b`]));
      return admin.request(write, path, { body: { ...body, ...texts } });
    };
    for (const [name, unfit] of Object.entries({ ...unseen, ...(line.length > 0 && lineBreaks) })) {
      const fields = name in unseen ? [...line, ...lines] : line;
      const { status, code, fields: refused } = await send(fields, unfit);
      t.deepEqual([status, code, refused.sort()], [422, 30001, fields.toSorted()], name);
    }
    for (const field of lines) {
      const value = `${unique()}\t1\r\n2 👩‍👧 é`;
      const { data } = await send([field], value);
      // A change of a balance answers its log entry.
      t.is((data.log ?? data)[field].slice(1, -1), value, field);
    }
  });

test('a text of blanks only is refused where a text is required', async (t) => {
  const own = await signedInWith(admin, []);
  const order = (product_name: string) => ({
    user_id: 1,
    details: [{ product_name, price: 1, quantity: 1 }],
  });
  const bodies: [write: 'POST' | 'PUT', path: string, field: string, body: (blank: string) => object][] = [
    ['POST', '/departments', 'name', (name) => ({ name })],
    ['POST', '/roles', 'name', (name) => ({ name, slug: unique('s') })],
    ['POST', '/permissions', 'name', (name) => ({ name, slug: unique('s'), method: 'GET', path: '/x' })],
    ['POST', '/dictionaries', 'name', (name) => ({ name, code: unique('c') })],
    ['POST', '/dictionaries', 'code', (code) => ({ name: 'x', code })],
    ['POST', '/menus', 'title', (title) => ({ title, slug: unique('s'), type: 1 })],
    ['PUT', `/admins/${own.account?.id}`, 'nickname', (nickname) => ({ nickname })],
    ['PUT', '/profile', 'nickname', (nickname) => ({ nickname })],
    ['POST', '/notifications', 'title', (title) => ({ title, content: 'x', receiver_id: 1 })],
    ['POST', '/notifications', 'content', (content) => ({ title: 'x', content, receiver_id: 1 })],
    ['POST', '/payment-methods', 'name', (name) => ({ name, type: 'mock' })],
    ['POST', '/orders', 'details.0.product_name', order],
  ];
  for (const [write, path, field, body] of bodies)
    for (const blank of ['   ', '\u200b', '\u3000\u00a0\ufeff']) {
      const { status, code, errors } = await admin.request(write, path, { body: body(blank) });
      t.deepEqual([status, code, errors], [422, 30001, { [field]: ['不能为空'] }], `${path} ${field}`);
    }
  const name = ` ${unique('d')} `;
  t.is((await admin.post('/departments', { name })).data.name, name);
  const phone = await admin.post('/departments', { name: unique('d'), phone: '   ' });
  t.deepEqual([phone.status, phone.fields], [422, ['phone']]);
});

test('a slug that every object has as a property is refused, and an icon', async (t) => {
  const bodies: [string, string, object][] = [
    ['/menus', 'slug', { title: 'x', type: 1 }],
    ['/menus', 'icon', { title: 'x', type: 1, slug: unique('s') }],
    ['/permissions', 'slug', { name: 'x', method: 'GET', path: '/x' }],
    ['/roles', 'slug', { name: 'x' }],
  ];
  for (const [path, field, body] of bodies)
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf']) {
      const { status, errors, fields } = await admin.post(
        path,
        { ...body, [field]: name },
        { 'Accept-Language': 'en' },
      );
      t.is(status, 422, `${path} ${field}: ${name}`);
      t.deepEqual(fields, [field]);
      t.true(errors?.[field]?.includes('is a reserved name'));
    }
  const { id } = (await admin.post('/menus', { title: 'x', type: 1, slug: unique('s') })).data;
  const changed = await admin.put(`/menus/${id}`, { slug: 'constructor' });
  t.deepEqual([changed.status, changed.errors], [422, { slug: ['是保留名称，不能使用'] }]);
});

test('the refusal names the field in both languages', async (t) => {
  const refusal = async (language: string) =>
    (await admin.post('/roles', { name: 'a\u001bb', slug: 's' }, { 'Accept-Language': language })).errors;
  t.deepEqual(await refusal('zh-CN'), { name: ['不能包含控制字符、方向控制符或不完整的字符'] });
  t.deepEqual(await refusal('en-US'), {
    name: ['must not contain control characters, direction overrides or halves of characters'],
  });
});

test('the lines of an order and of an imported file contain no unseen characters', async (t) => {
  const user_id = await userIn();
  const details = [{ product_name: 'a\u202eb', price: 1, quantity: 1 }];
  const refused = await admin.post('/orders', { user_id, details });
  t.deepEqual([refused.status, refused.fields], [422, ['details.0.product_name']]);
  const rows = [`${user_id},a\u001bb,1.00,1`, `${user_id},"a\nb",1.00,1`, `${user_id},茶\u202e,1.00,1`];
  const id = await startImport(admin, `user_id,product_name,price,quantity\n${rows.join('\n')}\n`);
  await concluded(id);
  t.like((await admin.get(`/imports/${id}`)).data, { success_count: 1, failed_count: 2 });
});

test('what was sent with half of a character is answered in JSON that every reader takes', async (t) => {
  const payment = await makePayment(admin);
  const notice = { out_trade_no: payment.payment_no, trade_status: 'NO', 'a\ud800': 'b\udc00' };
  await service.anonymous.post('//api/payment/notify/mock', notice);
  const paid = await admin.get(`/payments/${payment.payment_no}`);
  t.is(paid.data.callbacks[0].body['a\ufffd'], 'b\ufffd');

  const trace = unique('half-of-a-character-');
  const sent = {
    title: 'x',
    receiver_id: 1,
    content: `x${'😀'.repeat(1500)}`,
    '\\ud800': '\ud800😀\ud800\ud83d',
  };
  await admin.post('/notifications', sent, { 'X-Trace-Id': trace });
  const entry = await until(async () => {
    const found = await admin.get(`/operation-logs?trace_id=${trace}`);
    return found.data.total === 1 ? found : undefined;
  });
  const { body } = entry.data.list[0].request;
  t.is(body['\\ud800'], '\ufffd😀\ufffd\ufffd');
  t.true(body.content.endsWith('😀\ufffd…'));

  const head = `user_id,${'x'.repeat(49)}😀\n1,1\n`;
  const refused = await admin.upload('/orders/import', head, { filename: 'orders.csv' });
  t.regex(refused.errors?.file?.[0] ?? '', /x\ufffd/);
  for (const { text } of [paid, entry, refused]) t.notRegex(text, /(?<!\\)\\ud[89a-f]/);
});

// Compared, hashed, stored sealed, or cleaned (names of files); never shown as sent.
const shownNowhere = new Set([
  ...['old_password', 'password', 'password_confirmation', 'captcha_id', 'captcha_code', 'shared_secret'],
  ...['filename', 'sha256'],
  // Looked up; what is not found is refused.
  ...['username', 'order_no', 'payment_no', 'type', 'fail_reason', 'token_ids'],
  ...['job', 'error', 'trace_id'],
]);

test('no other text of any body takes unseen characters', (t) => {
  const open = new Set<string>();
  const look = (schema: Joi.Schema, name: string): void => {
    const { keys, items } = schema.$_terms as {
      keys?: { key: string; schema: Joi.Schema }[];
      items?: Joi.Schema[];
    };
    for (const { key, schema: member } of keys ?? []) look(member, key);
    for (const item of items ?? []) look(item, name);
    if (schema.type !== 'string' || shownNowhere.has(name)) return;
    for (const unfit of Object.values(unseen))
      if (!Joi.object({ [name]: schema }).validate({ [name]: `a${unfit}b` }).error) open.add(name);
  };
  // The filters of an export find what a list finds.
  for (const { body, path } of routes) if (body && !path.endsWith('/export')) look(body, 'body');
  t.deepEqual([...open], []);
});
