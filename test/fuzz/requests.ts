// Requests from the operations of the document: most as they should be or wrong in one place, some wrong all over.
import { gzipSync } from 'node:zlib';
import { mockSign } from '../support/factories.js';
import type { Random } from './random.js';
import { asText, junk, odd, oddTexts, written, type Schema } from './values.js';
import { secret, type ActorName, type World } from './world.js';

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  schema: Schema;
}

export interface Operation {
  method: string;
  path: string;
  description: string;
  security: object[];
  parameters: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content: Record<string, unknown> }>;
}

export interface FuzzRequest {
  index: number;
  actor: ActorName;
  /** Undefined where neither method nor path is one of the document. */
  operation: Operation | undefined;
  method: string;
  /** As it stands in the first line. */
  path: string;
  headers: Record<string, string>;
  body?: Buffer;
  /** The token was changed, or sent as something else. */
  isForged: boolean;
}

interface Document {
  paths: Record<string, Record<string, { parameters: object; requestBody?: object }>>;
  components: Record<string, Record<string, object>>;
}

/** The same with what it refers to in its place; what requests are made of refers to nothing that holds itself. */
function resolved(node: unknown, document: Document): unknown {
  if (Array.isArray(node)) return node.map((part) => resolved(part, document));
  if (typeof node !== 'object' || node === null) return node;
  const { $ref } = node as { $ref?: string };
  const [kind = '', name = ''] = $ref?.split('/').slice(2) ?? [];
  if ($ref) return resolved(document.components[kind]?.[name], document);
  return Object.fromEntries(Object.entries(node).map(([key, part]) => [key, resolved(part, document)]));
}

/** The operations of a document, those about money several times. */
export function operationsOf(document: Document): Operation[] {
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { parameters, requestBody, ...operation }]) =>
        ({
          ...operation,
          parameters: resolved(parameters, document),
          requestBody: resolved(requestBody, document),
          method: method.toUpperCase(),
          path,
        }) as Operation,
    ),
  );
  const money =
    /^\/api\/(admin\/(orders|payments|refunds|users\/\{id\}\/update-balance|user-balance-logs)$|payment\/notify\/\{type\}$)/;
  return all.flatMap((operation) =>
    Array<Operation>(operation.method === 'POST' && money.test(operation.path) ? 8 : 1).fill(operation),
  );
}

const chances = { odd: 0.45, oddHeaders: 0.2, forged: 0.02, oddBody: 0.08, oddMethod: 0.02, oddPath: 0.03 };

/** The request of that number; the same one for the same seed, but for what the service numbers by itself. */
export function requestOf(index: number, operations: Operation[], world: World, r: Random): FuzzRequest {
  let operation = r.turn(operations);
  // An administrator who signs out is gone for a while.
  if (operation.path.endsWith('/logout')) operation = r.pick(operations);
  const isPublic = operation.security.length === 0;
  const actor: ActorName = r.chance(isPublic ? 0.7 : 0.04) ? 'anonymous' : r.chance(0.15) ? 'few' : 'super';
  const context: Context = { index, world, r, oddness: r.chance(chances.odd) ? r.pick([0.15, 0.3, 0.9]) : 0 };
  const isForged = r.chance(chances.forged);
  const { authorization } = world.actors[actor];
  const headers: Record<string, string> = {
    ...(actor === 'anonymous' ? {} : { Authorization: isForged ? forged(authorization, r) : authorization }),
    ...(r.chance(chances.oddHeaders) ? oddHeaders(operation, r) : {}),
  };
  const request: FuzzRequest = {
    ...{ index, actor, operation, method: operation.method, headers, isForged },
    path: filled(operation, context) + query(operation, context),
  };
  Object.assign(request, body(operation, context, headers));
  if (r.chance(chances.oddMethod)) {
    request.method = r.pick([
      'HEAD',
      'OPTIONS',
      'PATCH',
      'TRACE',
      'PROPFIND',
      'M-SEARCH',
      'DELETE',
      'PUT',
      'POST',
      'GET',
    ]);
    request.operation = undefined;
  }
  if (r.chance(chances.oddPath)) {
    request.path = oddPath(request.path, r);
    request.operation = undefined;
  }
  return request;
}

interface Context {
  index: number;
  world: World;
  r: Random;
  /** Chance of each value to be odd. */
  oddness: number;
}

const forged = (authorization: string, r: Random): string =>
  r.pick([
    '',
    'Bearer',
    'Bearer x.y.z',
    'Basic YTpi',
    authorization.slice(0, -3),
    authorization.replace('.', '..'),
    authorization.replace(/\.[^.]*$/, '.'),
    `Bearer ${Buffer.from('{"alg":"none"}').toString('base64url')}.${authorization.split('.')[1]}.`,
    `${authorization},${authorization}`,
    `Bearer ${'x'.repeat(4000)}`,
  ]);

// What travels in a header is one byte each; the rest of the odd texts has its turn in paths, queries and bodies.
const headerText = (r: Random): string => r.pick(oddTexts).replace(/[^\t\x20-\x7e\x80-\xff]/g, '?');

function oddHeaders({ responses }: Operation, r: Random): Record<string, string> {
  const choices: Record<string, () => string> = {
    'Accept-Language': () =>
      r.pick(['en', 'en-US', 'xx;q=9', ',,,;', 'x'.repeat(2000), '*', 'zh-CN;q=0, en;q=1e9']),
    'X-Timezone': () =>
      r.pick([
        'Asia/Tokyo',
        'America/St_Johns',
        'Asia/Shanghai',
        'Europe/Paris',
        'UTC',
        'nowhere',
        '__proto__',
        '+25:00',
        'UTC',
        '../UTC',
      ]),
    'Idempotency-Key': () =>
      r.pick([`key-${r.below(40)}`, 'k'.repeat(64), 'k'.repeat(300), 'ä', headerText(r)]),
    'X-Trace-Id': () => r.pick(['trace-of-a-client', 'x', 'x'.repeat(65), headerText(r)]),
    'User-Agent': () => r.pick(['', 'x'.repeat(5000), '() { :; }; echo', headerText(r)]),
    'X-Forwarded-For': () => r.pick(['1.1.1.1', 'x', ','.repeat(200), '::1, 10.0.0.1']),
    'X-HTTP-Method-Override': () => 'DELETE',
    Origin: () => r.pick(['null', 'https://evil.example', headerText(r)]),
    Range: () =>
      r.pick([
        'bytes=0-0',
        'bytes=-1',
        'bytes=5-2',
        'bytes=0-1,2-3',
        'bytes=99999999999-',
        'x',
        headerText(r),
      ]),
    'If-None-Match': () => r.pick(['*', '"x"', headerText(r)]),
    'If-Modified-Since': () => r.pick(['Thu, 01 Jan 2099 00:00:00 GMT', headerText(r)]),
    Accept: () => r.pick(['text/html', '*/*;q=0', headerText(r)]),
    'Accept-Encoding': () => r.pick(['gzip', 'identity;q=0', 'br;q=2', '*;q=0']),
    Cookie: () => `token=${headerText(r)}`,
    Connection: () => r.pick(['close', 'keep-alive, X']),
    Upgrade: () => r.pick(['h2c', 'x']),
  };
  const isFile = '*/*' in (responses[200]?.content ?? {});
  const names = [...r.some(Object.keys(choices), 0.2), ...(isFile ? ['Range'] : [])];
  return Object.fromEntries(names.map((name) => [name, (choices[name] as () => string)()]));
}

// A lone surrogate cannot be written in an address at all.
const encoded = (text: string): string =>
  encodeURIComponent(Buffer.from(text.slice(0, 1500)).toString()).slice(0, 5000);

function filled({ path, parameters }: Operation, context: Context): string {
  const { r } = context;
  const resource = path.split('/')[3] ?? '';
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const schema = parameters.find((parameter) => parameter.name === name)?.schema ?? {};
    const value = r.chance(context.oddness / 2) ? odd(schema, r) : key(resource, name, context);
    return encoded(asText(value)) || '0';
  });
}

/** Records that no request but those on pooled ones may harm: rights of the callers hang on them. */
const guarded = new Set(['admins', 'roles', 'menus', 'permissions']);

/** A key of a record in the path. */
function key(resource: string, name: string, { r, index, world: { pools } }: Context): unknown {
  if (name === 'type') return r.pick(['mock', 'mock', 'mock', 'mock', 'wechat', 'alipay', 'none']);
  if (name === 'tenant') return r.pick(['acme', 'x']);
  if (name === 'code') return r.pick(['fz', 'status', `fz-${index}`]);
  if (name === 'payment_no' || (resource === 'payments' && r.chance(0.7)))
    return r.pick(pools.payments).payment_no;
  if (resource === 'orders' && r.chance(0.7)) return r.pick(pools.orders).order_no;
  if (resource === 'online-admins') return r.pick(pools.sessions);
  if (!guarded.has(resource) && r.chance(0.5)) return 1 + r.below(r.pick([5, 300, 100_000]));
  const ids: Record<string, number[]> = {
    ...pools.others,
    ...{ users: pools.users, admins: pools.admins, roles: pools.roles, menus: pools.menus },
    ...{ permissions: pools.permissions, 'payment-methods': pools.methods },
  };
  return r.pick(ids[resource] ?? [1, 2, 3, 999_999_999]);
}

function query({ parameters, method }: Operation, context: Context): string {
  const { r } = context;
  const known = parameters.filter((parameter) => parameter.in === 'query' && parameter.name !== 'ticket');
  const pairs = r.some(known, 0.25).map(({ name, schema }): [string, unknown] => {
    return [name, r.chance(context.oddness) ? odd(schema, r) : fitting(name, schema, context)];
  });
  const parts = pairs.map(([name, value]) => `${encoded(name)}=${encoded(asText(value))}`);
  if (r.chance(context.oddness / 3))
    parts.push(
      r.pick([
        'page=1&page=2',
        'timezone=Asia/Shanghai',
        'timezone=x',
        '%',
        '=',
        'a[]=1',
        'id[$ne]=1',
        '&&&',
        '%ff=%00',
      ]),
    );
  if (method === 'GET' && r.chance(context.oddness / 20)) parts.push('x=y&'.repeat(1500));
  return parts.length > 0 ? `?${parts.join('&')}` : '';
}

/** A value that the schema accepts and, by the name it has, the service too. */
function fitting(name: string, schema: Schema, context: Context): unknown {
  const { r, index, world } = context;
  const { pools } = world;
  const times = [
    '2026-01-01',
    '2026-11-21 08:00:00',
    '2027-06-01T00:00:00+08:00',
    '2020-02-29T23:59:59.999Z',
  ];
  const amounts = ['0.01', '1.00', 12.3, '24.60', 100, '999999.99', '10000000000000', 0];
  const byName: Record<string, () => unknown> = {
    user_id: () => r.pick(pools.users),
    order_no: () => r.pick(pools.orders).order_no,
    payment_no: () => r.pick(pools.payments).payment_no,
    payment_method_id: () => r.pick(pools.methods),
    department_id: () => r.pick(pools.others.departments as number[]),
    receiver_id: () => r.pick(pools.admins),
    role_id: () => r.pick(pools.roles),
    menu_id: () => r.pick(pools.menus),
    parent_id: () => 0,
    role_ids: () => [r.pick(pools.roles)],
    permission_ids: () => r.some([...pools.permissions, 1, 2, 3, 4], 0.5),
    menu_ids: () => [r.pick(pools.menus)],
    receiver_ids: () => pools.admins,
    ids: () => [...new Set([1 + r.below(300), 1 + r.below(100_000)])],
    token_ids: () => pools.sessions.join(),
    email: () => `fz${index}@example.com`,
    phone: () => '+86 138 0000 0000',
    // Networks for documentation: nobody of this run comes from there.
    ip: () => `203.0.113.${r.below(256)}${r.pick(['', '/32', '-203.0.113.255'])}`,
    path: () => `/fz/${index}/*`,
    sha256: () => '0'.repeat(64),
    order_by: () => r.pick(['id:desc', 'id:asc', 'created_at:asc,id:desc']),
    start_time: () => r.pick(times),
    end_time: () => r.pick(times),
    start_date: () => r.pick(times),
    end_date: () => r.pick(times),
    page: () => 1 + r.below(4),
    page_size: () => r.pick([1, 10, 100]),
    config: () => r.pick([{ shared_secret: secret }, {}, { app_id: 'a', mch_id: 'b' }]),
    shared_secret: () => secret,
    password: () => 'secret-2',
    old_password: () => 'secret-1',
    password_confirmation: () => 'secret-2',
    username: () => r.pick([`fz-${index}`, ...pools.usernames]),
    chunk_id: () => `fuzz-chunk-${index >> 9}-${r.below(6)}`,
    chunk_index: () => r.below(3),
    total_chunks: () => 2,
    total_size: () => 2000,
    chunk_size: () => 1000,
    filename: () => r.pick(['a.txt', 'a.csv', 'a.png', '报告.pdf']),
    amount: () => r.pick(amounts),
    price: () => r.pick(amounts),
    request_id: () => `request-${r.below(3000)}`,
    days: () => r.pick([30, 365]),
    icon: () => null,
  };
  const made = byName[name];
  if (made) return made();
  if (name === 'type' && !schema.enum)
    return r.pick(['mock', 'mock', 'wechat', 'alipay', 'role', 'admin', 'dictionary:fz']);
  return plain(schema, context);
}

function plain(schema: Schema, context: Context): unknown {
  const { r, index } = context;
  if (schema.enum) return r.pick(schema.enum);
  const branches = schema.oneOf ?? schema.anyOf;
  if (branches) return plain(r.pick(branches), context);
  const kind = Array.isArray(schema.type) ? r.pick(schema.type) : schema.type;
  if (kind === 'boolean') return r.chance(0.5);
  if (kind === 'null') return null;
  if (kind === 'object') return record(schema, context);
  if (kind === 'array') {
    const size = r.pick([schema.minItems ?? 0, 1, 2, 3]);
    return Array.from({ length: size }, () => plain(schema.items ?? {}, context));
  }
  if (kind === 'integer' || kind === 'number') {
    const { minimum = 0, maximum = 100 } = schema;
    return Math.min(maximum, minimum + r.pick([0, 1, 2, r.below(100)]));
  }
  const text = r.pick([
    `fz-${index}`,
    'fz.1',
    `a${r.below(1000)}`,
    ...(schema.pattern ? [] : ['茶 1', 'x '.repeat(9)]),
  ]);
  return text.slice(0, schema.maxLength);
}

/** An object of the schema's members, odd ones among them where the request is meant to be. */
function record({ properties = {}, required = [] }: Schema, context: Context): Record<string, unknown> {
  const { r, oddness } = context;
  const names = Object.keys(properties).filter((name) =>
    required.includes(name) ? !r.chance(oddness / 8) : r.chance(0.35),
  );
  const fields: Record<string, unknown> = {};
  for (const name of names) {
    const schema = properties[name] as Schema;
    if (schema.contentMediaType) continue;
    fields[name] = r.chance(oddness) ? odd(schema, r) : fitting(name, schema, context);
  }
  if (r.chance(oddness / 3))
    fields[r.pick(['id', 'constructor', 'toString', '$ne', 'a[b]', 'status', 'is_admin', ''])] = junk(r);
  return fields;
}

function body(operation: Operation, context: Context, headers: Record<string, string>): { body?: Buffer } {
  const { r } = context;
  const content = operation.requestBody?.content;
  if (!content) return r.chance(0.01) ? raw(headers, 'application/json', written(junk(r))) : {};
  const type = r.pick(Object.keys(content));
  const whole = content[type]?.schema ?? {};
  const schema = r.pick(whole.oneOf ?? whole.anyOf ?? [whole]);
  const fields = operation.path.startsWith('/api/payment/notify') ? notice(context) : record(schema, context);
  if (type === 'multipart/form-data') return multipart(fields, schema, context, headers);
  if (r.chance(chances.oddBody)) return oddBody(fields, context, headers);
  if (type === 'application/x-www-form-urlencoded') {
    const pairs = Object.entries(fields).map(([name, value]) => `${encoded(name)}=${encoded(asText(value))}`);
    return raw(headers, type, pairs.join('&'));
  }
  return raw(
    headers,
    'application/json',
    r.chance(context.oddness / 10) ? written(junk(r)) : written(fields),
  );
}

function raw(headers: Record<string, string>, type: string, content: string | Buffer): { body: Buffer } {
  if (type) headers['Content-Type'] = type;
  return { body: Buffer.from(content as string) };
}

/** What a provider would send about a payment, signed. */
function notice(context: Context): Record<string, unknown> {
  const { r, oddness, world } = context;
  const { payment_no, amount } = r.pick(world.pools.payments);
  const fields: Record<string, unknown> = {
    out_trade_no: payment_no,
    trade_status: 'SUCCESS',
    sign: mockSign(payment_no, amount.toFixed(2), r.chance(0.1) ? 'another' : secret),
    ...(r.chance(0.3) ? { amount: r.pick(['24.60', 24.6, '24.61', '24.600', 24]) } : {}),
    ...(r.chance(0.3) ? { transaction_id: r.chance(0.5) ? `T-${context.index}` : `T-${r.below(20)}` } : {}),
  };
  for (const name of Object.keys(fields)) if (r.chance(oddness / 2)) fields[name] = junk(r);
  if (r.chance(oddness / 2)) fields[r.pick(['trade_no', 'total_amount', 'constructor', 'x'])] = junk(r);
  return fields;
}

function oddBody(fields: object, { r }: Context, headers: Record<string, string>): { body: Buffer } {
  const text = written(fields);
  const json = 'application/json';
  const choices: (() => { body: Buffer })[] = [
    () => raw(headers, json, text.slice(0, r.below(text.length))),
    () => raw(headers, json, `${text}}`),
    () => raw(headers, json, `\ufeff${text}`),
    () => raw(headers, json, ''),
    () => raw(headers, json, `{"a":1,${text.slice(1)}`),
    () => raw(headers, json, Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])),
    () => raw(headers, 'application/json; charset=utf-16le', Buffer.from(text, 'utf16le')),
    () =>
      raw(
        headers,
        r.pick(['text/plain', 'application/xml', 'application/vnd.api+json', 'x', '', 'text/html']),
        text,
      ),
    () =>
      raw(
        headers,
        r.pick(['multipart/form-data', 'multipart/form-data; boundary=', 'multipart/form-data; boundary=x']),
        text,
      ),
    () =>
      raw(
        headers,
        'application/x-www-form-urlencoded',
        'a[b][c]=1&a[]=2&__proto__[x]=1&%&=&a'.repeat(r.pick([1, 40])),
      ),
    () => raw(headers, json, 'x'.repeat(r.pick([70_000, 1_100_000]))),
    () => {
      headers['Content-Encoding'] = r.pick(['gzip', 'br', 'deflate', 'identity', 'x']);
      return raw(headers, json, r.chance(0.5) ? gzipSync(text) : text);
    },
  ];
  return r.pick(choices)();
}

const files: Record<string, () => Buffer> = {
  'a.txt': () => Buffer.from('a text'),
  'a.csv': () =>
    Buffer.from(
      'user_id,amount,remark,order_ref,product_id,product_name,price,quantity\n1,2.00,x,,1,Tea,2.00,1\n',
    ),
  'a.png': () =>
    Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    ),
  'a.pdf': () => Buffer.from('%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF'),
  'a.html': () => Buffer.from('<script>alert(1)</script>'),
  'a.zip': () => Buffer.from('PK\x03\x04zzzz'),
  'empty.txt': () => Buffer.alloc(0),
  'large.txt': () => Buffer.alloc(300_000, 'x'),
};

function multipart(
  fields: Record<string, unknown>,
  { properties = {} }: Schema,
  { r, oddness, world }: Context,
  headers: Record<string, string>,
): { body: Buffer } {
  const boundary = 'fuzz-boundary';
  const part = Object.keys(properties).find((name) => properties[name]?.contentMediaType) ?? 'file';
  const parts = Object.entries(fields).map(([name, value]) =>
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="${encoded(name)}"\r\n\r\n${asText(value)}\r\n`,
    ),
  );
  const names = Object.keys(files);
  for (let count = r.chance(oddness / 3) ? r.pick([0, 2]) : 1; count > 0; count--) {
    const kind = r.pick(names);
    const name = r.chance(oddness) ? r.pick(oddTexts).replace(/[\r\n"]/g, '_') : kind;
    const content = kind === 'a.csv' ? orders(world, r) : (files[kind] as () => Buffer)();
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${r.chance(oddness / 5) ? 'other' : part}"; filename="${name}"\r\n\r\n`;
    parts.push(Buffer.concat([Buffer.from(head), content, Buffer.from('\r\n')]));
  }
  const whole = Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]);
  const cut = r.chance(oddness / 6) ? whole.subarray(0, r.below(whole.length)) : whole;
  return raw(headers, `multipart/form-data; boundary=${boundary}`, cut);
}

function orders({ pools }: World, r: Random): Buffer {
  const head = 'user_id,amount,remark,order_ref,product_id,product_name,price,quantity';
  const rows = Array.from({ length: r.pick([1, 3, 40]) }, (_, row) =>
    [
      r.pick([...pools.users, 0, 'x']),
      '2.00',
      r.pick(['', '=1+1', '"a']),
      `ref-${row >> 1}`,
      1,
      'Tea',
      r.pick(['1.00', '2.00']),
      r.pick([1, 2]),
    ].join(),
  );
  return Buffer.from(`${head}\n${rows.join('\n')}\n`);
}

function oddPath(path: string, r: Random): string {
  return r.pick([
    `${path}/`,
    `/${path}`,
    path.toUpperCase(),
    path.replace(/\/(\w)/g, '//$1'),
    path.replace('/api', '/api/..;/api'),
    path.replace('/admin', '/%61dmin'),
    `/api/admin/../${path}`,
    `${path};a=b`,
    `${path}%`,
    `${path}%ff`,
    `${path}%2e%2e%2f`,
    `${path}#x`,
    `${path}?`,
    `${path}??a=%`,
    `http://elsewhere.example${path}`,
    '*',
    '/',
    '/docs',
    '/openapi.json',
    '/docs/../package.json',
    '/docs/%2e%2e/package.json',
    '/api/payment/notify/mock/acme',
    '/api/payment/notify/__proto__',
    `/${'a'.repeat(9000)}`,
    `/${'a/'.repeat(3000)}`,
  ]);
}
