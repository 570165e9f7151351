// Values for the members of a schema: some that it accepts, some at its limits, some that nobody should send.
import type { Random } from './random.js';

/** What is used of the JSON Schemas of the document. */
export interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  enum?: unknown[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  contentMediaType?: string;
}

/** What stands in a JSON text as it is: numbers no double holds, deep nesting, keys that come twice. */
export class Literal {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** JSON text of a value that may hold literals. */
export function written(value: unknown): string {
  if (value instanceof Literal) return value.text;
  if (Array.isArray(value)) return `[${value.map(written).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${written(member)}`);
  return `{${members.join(',')}}`;
}

/** A value as it stands in a query, a path or a form. */
export const asText = (value: unknown): string => (typeof value === 'string' ? value : written(value));

// No address of the loopback network alone is among them: it would shut out those who ask.
export const oddTexts = [
  ...[
    '',
    ' ',
    '\0',
    'a\0b',
    '\ud800',
    '\udc00x',
    '\ufeff',
    '\u202egnp.exe',
    '😀'.repeat(60),
    '茶',
    'ﷺ'.repeat(40),
  ],
  ...["' OR 1=1 -- ", '"; DROP TABLE admins; --', '%_\\', '\\', '`id`', "1' AND SLEEP(5) -- ", '*/ /*!50000'],
  ...[
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    'javascript:alert(1)',
    '{{7*7}}',
    '${7*7}',
  ],
  ...['../../etc/passwd', '..\\..\\boot.ini', '/etc/shadow', 'file:///etc/passwd', 'C:\\con', '.', '..', '~'],
  ...[
    '\r\nX-Injected: y',
    '\n',
    '\t',
    '\u2028',
    '\x7f',
    '=1+1',
    '@SUM(A1)',
    '%00',
    '%0d%0a',
    '%',
    '%zz',
    '%ff',
  ],
  ...[
    'null',
    'undefined',
    'true',
    'NaN',
    '-0',
    '0x10',
    '1e3',
    '1e309',
    '1,5',
    '１２',
    '٣',
    ' 1 ',
    '+1',
    '1.005',
  ],
  ...['99999999999999999999', '-9223372036854775809', '9007199254740993', '10000000000000.01', '0.000000001'],
  ...[
    '2026-02-30',
    '0000-00-00',
    '9999-12-31T23:59:59-23:59',
    '275760-09-13',
    '-271821-04-20',
    '24:00',
    '2026-W01',
  ],
  ...[
    'id:asc',
    'id:desc,id:asc',
    'id:',
    ':',
    'id:asc;drop',
    '__proto__',
    'constructor',
    'toString',
    '__proto__:asc',
  ],
  ...[
    'a@b',
    'a@example.com',
    'ä@ö.de',
    '0.0.0.0/0',
    '::/0',
    '010.1.2.3',
    '10.0.0.1/33',
    '9.9.9.9-1.1.1.1',
    '::ffff:1',
  ],
  ...['mock', 'wechat', 'alipay', 'MOCK', 'super-admin', '1', '0', '-1', 'a'.repeat(64), 'x'.repeat(300)],
];

const oddNumbers = [
  ...[
    0,
    -1,
    1,
    2,
    0.1,
    0.001,
    1.005,
    99.999,
    2 ** 31,
    2 ** 32,
    2 ** 53 - 1,
    2 ** 53,
    2 ** 63,
    1e13,
    1e15,
    1e308,
  ],
  ...[
    '1e400',
    '-1e400',
    '-0',
    '1E5',
    '0.1e1',
    '12345678901234567890',
    '10000000000000.01',
    '1e-400',
    '9'.repeat(400),
  ].map((text) => new Literal(text)),
];

/** Anything at all. */
export function junk(r: Random): unknown {
  const kinds: (() => unknown)[] = [
    () => r.pick(oddTexts),
    () => r.pick(oddTexts),
    () => r.pick(oddNumbers),
    () => r.pick([null, true, false, {}, [], [null], [[]], [{}], { a: [] }, [1, 'a', null], { length: 1e9 }]),
    () => ({ [r.pick(['$ne', '__proto__', 'constructor', 'toJSON', 'then', '0', ''])]: r.pick(oddTexts) }),
    () => nested(r),
    () => many(r),
    () => 'x'.repeat(r.pick([1000, 10_000, 70_000, 200_000])),
  ];
  return r.pick(kinds)();
}

function nested(r: Random): Literal {
  const levels = r.pick([5, 31, 32, 33, 100, 3000, 20_000]);
  const [open, close] = r.pick<[string, string]>([
    ['[', ']'],
    ['{"a":', '}'],
  ]);
  return new Literal(`${open.repeat(levels)}1${close.repeat(levels)}`);
}

function many(r: Random): Literal {
  const count = r.pick([100, 1001, 9000, 20_000, 60_000]);
  if (r.chance(0.5))
    return new Literal(
      `[${Array<string>(count)
        .fill(r.pick(['{}', '1', '""', 'null', '[]']))
        .join(',')}]`,
    );
  return new Literal(`{${Array.from({ length: count }, (_, key) => `"k${key}":{}`).join(',')}}`);
}

/** A value that is wrong for the schema, or just within or beyond its limits. */
export function odd(schema: Schema, r: Random): unknown {
  if (r.chance(0.35)) return junk(r);
  const { type, items, properties } = schema;
  if (schema.anyOf) return odd(r.pick(schema.anyOf), r);
  const kind = Array.isArray(type) ? r.pick(type) : type;
  if (kind === 'string') return oddString(schema, r);
  if (kind === 'integer' || kind === 'number') return oddNumber(schema, r);
  if (kind === 'array') return oddArray(items ?? {}, schema, r);
  if (kind === 'object') return { [r.pick(Object.keys(properties ?? { a: 1 })) ?? 'a']: junk(r) };
  return r.pick(['true', 'false', 1, 0, '1', '', null, 'yes', [true]]);
}

function oddString({ minLength = 0, maxLength = 255 }: Schema, r: Random): unknown {
  const lengths = [minLength - 1, minLength, maxLength, maxLength + 1, maxLength + 5000].filter(
    (length) => length >= 0,
  );
  if (r.chance(0.6)) return r.pick(oddTexts);
  return r.pick(['a', '茶', '7', '😀', "'", '%', '\u0301']).repeat(r.pick(lengths));
}

function oddNumber({ minimum = 0, maximum = 2 ** 31 }: Schema, r: Random): unknown {
  if (r.chance(0.5)) return r.pick(oddNumbers);
  return r.pick([
    minimum,
    minimum - 1,
    maximum,
    maximum + 1,
    minimum + 0.5,
    String(minimum),
    String(maximum),
  ]);
}

/** Characters of an array that is far beyond every limit. */
const maxArrayText = 5_000_000;

function oddArray(items: Schema, { minItems = 0, maxItems = 100 }: Schema, r: Random): unknown {
  const size = Math.max(0, r.pick([minItems - 1, minItems, 1, maxItems, maxItems + 1, 5 * maxItems]));
  const item = r.chance(0.5) ? odd(items, r) : (items.enum?.[0] ?? (items.type === 'integer' ? 1 : {}));
  const isDistinct = items.type === 'integer' && r.chance(0.5);
  const length = Math.min(size, Math.ceil(maxArrayText / written(item).length));
  return Array.from({ length }, (_, index) => (isDistinct ? 900_000_000 + index : item));
}
