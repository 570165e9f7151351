// Invisible characters are refused in every text field, with an error that names the field.
import '../support/shared-environment.js';
import Joi from 'joi';
import test from 'ava';
import { routes } from '../../src/api/routes.js';
import { makePayment, makeUser, signedInWith, unique } from '../support/factories.js';
import { concluded, startImport } from '../support/imports.js';
import { service } from '../support/shared-service.js';
import { until } from '../support/until.js';

const { admin } = service;

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
      const { status, code, errors } = await send(fields, unfit);
      t.deepEqual([status, code, Object.keys(errors ?? {}).sort()], [422, 30001, fields.toSorted()], name);
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
  t.deepEqual([phone.status, Object.keys(phone.errors ?? {})], [422, ['phone']]);
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
      const { status, errors } = await admin.post(
        path,
        { ...body, [field]: name },
        { 'Accept-Language': 'en' },
      );
      t.is(status, 422, `${path} ${field}: ${name}`);
      t.deepEqual(Object.keys(errors ?? {}), [field]);
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
  t.deepEqual([refused.status, Object.keys(refused.errors ?? {})], [422, ['details.0.product_name']]);
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
