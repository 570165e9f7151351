// The examples of the API document are valid by their schemas. Needs no database and no Redis.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import Ajv from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import test from 'ava';
import { orderPeriod, paymentPeriod } from '../src/lib/values/numbers.js';

type Node = Record<string, unknown>;

// Each schema is compiled for one example: making its code quicker would take longer than running it.
const options = { strict: false, allErrors: true, validateSchema: false, code: { optimize: false } };
const ajv = new Ajv.default(options);
addFormats.default(ajv).addFormat('decimal', /^-?\d+(\.\d+)?$/);
// Amounts are decimals: 0.29 is a multiple of 0.01, whatever their quotient is in binary.
ajv.removeKeyword('multipleOf');

interface Found {
  /** JSON pointer of the schema. */
  schema: string;
  value: unknown;
  /** Name of the field or parameter. */
  name: string | undefined;
}

/** Every example with the place of its schema: `examples` in a schema, `example` beside one. */
function* examplesIn(node: unknown, pointer = '', name?: string): Generator<Found> {
  if (typeof node !== 'object' || node === null) return;
  const { example, examples, schema } = node as Node;
  if (Array.isArray(examples)) for (const value of examples) yield { schema: pointer, value, name };
  if (example !== undefined && schema) yield { schema: `${pointer}/schema`, value: example, name };
  for (const [key, part] of Object.entries(node)) {
    if (['example', 'examples', 'enum', 'const', 'default'].includes(key)) continue;
    const step = encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));
    const inner = key === 'schema' ? ((node as Node).name as string | undefined) : key;
    yield* examplesIn(part, `${pointer}/${step}`, inner);
  }
}

/** The fields in an example, at any depth. */
function* fieldsIn(value: unknown, name?: string): Generator<[string | undefined, unknown]> {
  yield [name, value];
  if (Array.isArray(value)) for (const item of value) yield* fieldsIn(item, name);
  else if (typeof value === 'object' && value !== null)
    for (const [key, part] of Object.entries(value)) yield* fieldsIn(part, key);
}

const document = JSON.parse(readFileSync('build/openapi.json', 'utf8')) as object;
const found = [...examplesIn(document)];
ajv.addSchema(document, 'document');

test('every example is one of its schema', (t) => {
  t.true(found.length > 1000, `${found.length} examples`);
  const wrong = found.flatMap(({ schema, value }) => {
    const validate = ajv.getSchema(`document#${schema}`);
    if (validate?.(value)) return [];
    return [`${schema}: ${JSON.stringify(value)} ${ajv.errorsText(validate?.errors)}`];
  });
  t.deepEqual(wrong, []);
});

test('the example of an event stream is an event as it is sent', (t) => {
  const streams = found.filter(({ schema }) => schema.endsWith('event-stream/schema'));
  t.true(streams.length > 0);
  for (const { value } of streams) {
    const [, event = ''] = /^data: (.+)\n\n$/.exec(value as string) ?? [];
    t.deepEqual(Object.keys(JSON.parse(event) as object), ['type', 'data', 'timestamp']);
  }
});

/** Forms that answers do not spell out. */
const forms: Record<string, (text: string) => boolean> = {
  order_no: (text) => orderPeriod(text) !== undefined,
  payment_no: (text) => paymentPeriod(text) !== undefined,
  out_trade_no: (text) => paymentPeriod(text) !== undefined,
  trace_id: (text) => /^[0-9A-HJKMNP-TV-Z]{26}$/.test(text),
  sha256: (text) => /^[0-9a-f]{64}$/.test(text),
  captcha_code: (text) => /^[2-9A-HJ-NP-Z]{5}$/.test(text),
};

test('numbers, digests and times of examples have the form of those that are answered', (t) => {
  const fields = found.flatMap(({ value, name }) => [...fieldsIn(value, name)]);
  for (const name of Object.keys(forms))
    t.true(
      fields.some(([field]) => field === name),
      name,
    );
  const wrong = fields
    .filter(([name = '', value]) => typeof value === 'string' && forms[name]?.(value) === false)
    .map(([name, value]) => `${name}: ${String(value)}`);
  t.deepEqual([...new Set(wrong)], []);
  const times = fields.filter(([name = '', value]) => /_at$/.test(name) && typeof value === 'string');
  t.true(times.length > 50);
  for (const [name, value] of times)
    t.regex(
      value as string,
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
      `${name}: its example in vocabulary.ts`,
    );
});

test('the signatures shown are those of what they stand beside', (t) => {
  const signed = (number: string, amount: string, secret: string): string =>
    createHmac('sha256', secret).update(`${number}|SUCCESS|${amount}`).digest('hex');
  const { example } =
    paths['/api/payment/notify/{type}']?.post?.requestBody?.content['application/json'] ?? {};
  const [secret = ''] = worded('NewMockPaymentMethod', 'shared_secret')?.examples ?? [];
  const { sign, out_trade_no = '', amount = '', ...others } = example ?? {};
  t.is(sign, signed(out_trade_no, amount, secret as string));
  t.deepEqual(Object.keys(others), ['trade_status', 'transaction_id'], 'no second amount');
  t.true(info.description.includes(`\`${signed('PAY1', '25.80', 'secret')}\``));
});

interface Worded {
  description?: string;
  examples?: unknown[];
  enum?: unknown[];
}

const { components, info, paths } = document as {
  info: { description: string };
  components: { schemas: Record<string, { properties: Record<string, Worded> }> };
  paths: Record<string, Record<string, Operation>>;
};

interface Operation {
  operationId: string;
  parameters?: (Worded & { name: string })[];
  requestBody?: { content: Record<string, { example?: Record<string, string> }> };
}

/** A field of a schema, or the parameter of an operation. */
function worded(place: string, name: string): Worded | undefined {
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const { parameters } = operations.find(({ operationId }) => operationId === place) ?? {};
  return components.schemas[place]?.properties[name] ?? parameters?.find((one) => one.name === name);
}

test('a filter is not described by what null means in a record', (t) => {
  const described = Object.values(paths)
    .flatMap((path) => Object.values(path))
    .flatMap(({ operationId, parameters = [] }) =>
      parameters.map(({ name, description }) => `${operationId}.${name}: ${description}`),
    );
  t.true(described.includes('listAdmins.department_id: Id of the department'));
  t.deepEqual(
    described.filter((words) => /\bnull\b/.test(words)),
    [],
  );
});

test('a field that shares its name with others is described by its own words', (t) => {
  const words: [place: string, name: string, RegExp][] = [
    ['BeginChunkUpload', 'action', /to do/],
    ['PaymentCallback', 'source', /company/],
    ['PaymentCallback', 'third_party_no', /null for none/],
    ['ShownOrder', 'refunds', /order/],
    ['PaymentDetail', 'refunds', /payment/],
    ['SystemLog', 'message', /log/],
    ['Attachment', 'url', /preview/],
    ['PaymentMethodTest', 'type', /channel/],
    ['ListedPayment', 'fail_reason', /paid_twice/],
    ['ImportError', 'row', /spreadsheet/],
    ['listOptions', 'type', /payment_method/],
    ['listFailedJobs', 'state', /failed/],
    ['listOperationLogs', 'status', /HTTP/],
    ['listSystemLogs', 'message', /log/],
    ['notifyPayment', 'type', /channel/],
  ];
  for (const [place, name, pattern] of words)
    t.regex(worded(place, name)?.description ?? '', pattern, `${place}.${name}`);
  const examples: [place: string, name: string, RegExp][] = [
    ['Attachment', 'url', /^\/api\/admin\/attachments\/\d+\/preview$/],
    ['PaymentCallback', 'verdict', /^paid$/],
    ['PaymentHandling', 'reason', /^[a-z_]+$/],
    ['SearchHit', 'title', /^ORD/],
  ];
  for (const [place, name, pattern] of examples)
    t.regex(String(worded(place, name)?.examples?.[0]), pattern, `${place}.${name}`);
});
