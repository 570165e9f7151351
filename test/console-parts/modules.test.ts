// Modules of the console that need no page, each by itself: lists in URLs, forms, amounts, trees and colours.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import { theme as library, type ThemeConfig } from 'antd';
import { config } from '../../config/index.js';
import { consoleModule } from '../support/console/console-module.js';

const { decode, encode } = await consoleModule<{
  decode: (search: URLSearchParams, checks: object, sortable: readonly string[]) => State;
  encode: (state: State) => URLSearchParams;
}>('parts/list/codec.ts');

const { changed, given, initialOf, rebase, touched } = await consoleModule<{
  changed: (values: Row, base: Row, required?: readonly string[]) => Row;
  given: (values: Row) => Row;
  initialOf: (fields: object, row: Row | undefined) => Row;
  touched: (values: Row, base: Row) => Row;
  rebase: (values: Row, base: Row, latest: Row) => { taken: Row; conflicts: string[] };
}>('parts/form/form-values.ts');

const { fromCents, isAmount, showAmount, toCents, typedAmount } = await consoleModule<{
  fromCents: (cents: bigint) => string;
  isAmount: (text: string) => boolean;
  showAmount: (text: string) => string;
  toCents: (text: string) => bigint;
  typedAmount: (text: string) => string;
}>('parts/show/money.ts');

const { changesOf, moved, placed, stepped } = await consoleModule<{
  changesOf: (before: readonly Entry[], after: readonly Entry[]) => Place[];
  moved: (tree: readonly Entry[], id: number, parent: number | null, at: number) => readonly Entry[];
  placed: (tree: readonly Entry[], places: readonly Place[]) => readonly Entry[];
  stepped: (tree: readonly Entry[], id: number, step: string) => readonly Entry[];
}>('access/tree-moves.ts');

const themes = await consoleModule<{ light: ThemeConfig; dark: ThemeConfig }>('app/theme.ts');

interface State {
  page: number;
  order: string;
  filters: Readonly<Record<string, string>>;
}

const checks = { keyword: () => true, status: (text: string) => text === 'paid', min: () => true };
const sortable = ['amount', 'created_at'];

const anyText = fc
  .string({ unit: 'binary' })
  .map((text) => text.trim())
  .filter(Boolean);

const anyState = fc.record({
  page: fc.integer({ min: 1, max: 999_999_999 }),
  order: fc.constantFrom('', 'amount:asc', 'amount:desc', 'created_at:asc'),
  filters: fc.record(
    {
      keyword: anyText,
      status: fc.constant('paid'),
      min: anyText,
    },
    { requiredKeys: [] },
  ),
});

test('a filter state written to the URL reads back unchanged', (t) => {
  fc.assert(
    fc.property(anyState, (state) => {
      const text = encode(state).toString();
      t.deepEqual(decode(new URLSearchParams(text), checks, sortable), state);
    }),
  );
});

test('any invented URL is read as a valid state', (t) => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('page', 'order_by', 'status', 'x'), fc.string()), (query) => {
      const state = decode(new URLSearchParams(query), checks, sortable);
      t.true(Number.isSafeInteger(state.page) && state.page > 0);
      t.true(state.order === '' || sortable.includes(state.order.split(':')[0] ?? ''));
      t.deepEqual(decode(encode(state), checks, sortable), state);
    }),
  );
});

test('spaces around a filter do not count', (t) => {
  const made = new URLSearchParams({ keyword: ' green tea\t', status: ' paid', min: ' ' });
  t.deepEqual(decode(made, checks, sortable).filters, { keyword: 'green tea', status: 'paid' });
});

test('defaults stay out of the URL', (t) => {
  t.is(encode({ page: 1, order: '', filters: { keyword: '' } }).toString(), '');
  const made = new URLSearchParams('page=-3&order_by=secret:asc&status=unheard&token=x');
  t.deepEqual(decode(made, checks, sortable), { page: 1, order: '', filters: {} });
});

type Row = Record<string, unknown>;

const anyRow = fc.record({
  a: fc.constantFrom('x', 'y', 'z'),
  b: fc.constantFrom(1, 2),
  c: fc.array(fc.nat(2)),
});

test('a form starts with the values of the row and without secrets', (t) => {
  const control = () => null;
  const fields = {
    name: { control, initial: 'new' },
    key: { control, isSecret: true },
    ids: { control, from: (row: Row) => (row.roles as { id: number }[]).map(({ id }) => id) },
  };
  t.deepEqual(initialOf(fields, { name: 'A', key: 'secret', roles: [{ id: 3 }] }), {
    name: 'A',
    key: undefined,
    ids: [3],
  });
  t.deepEqual(initialOf(fields, undefined), { name: 'new', key: undefined, ids: undefined });
});

test('a create sends only the filled fields', (t) => {
  t.deepEqual(given({ a: '', b: null, c: undefined, d: 0, e: false, f: [] }), { d: 0, e: false, f: [] });
});

test('a draft has only the fields that were touched', (t) => {
  const base = { a: 'x', b: undefined, c: [1] };
  t.deepEqual(touched({ a: '', b: undefined, c: [1] }, base), { a: '' });
  t.deepEqual(touched(base, base), {});
});

test('an update sends only the changed fields', (t) => {
  t.deepEqual(changed({ a: 'x', b: undefined, c: [1] }, { a: 'x', b: 2, c: [1] }), { b: null });
  t.deepEqual(changed({ a: 'x' }, { a: 'x' }, ['a']), { a: 'x' });
  fc.assert(
    fc.property(anyRow, anyRow, (base, values) => {
      t.deepEqual({ ...base, ...changed(values, base) }, values);
    }),
  );
});

test('a form keeps its edits when the row has changed', (t) => {
  fc.assert(
    fc.property(anyRow, anyRow, anyRow, (base, values, latest) => {
      const { taken, conflicts } = rebase(values, base, latest);
      for (const name of Object.keys(base) as (keyof typeof base)[]) {
        const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
        const isTyped = !same(values[name], base[name]);
        const isMoved = !same(latest[name], base[name]);
        t.is(name in taken, isMoved && !isTyped);
        t.is(conflicts.includes(name), isMoved && isTyped && !same(values[name], latest[name]));
        if (name in taken) t.deepEqual(taken[name], latest[name]);
      }
    }),
  );
});

const largest = 10n ** 18n - 1n;
const cents = fc.bigInt({ min: -largest, max: largest });

test('an amount converted to text keeps every cent', (t) => {
  fc.assert(
    fc.property(cents, (value) => {
      t.is(toCents(fromCents(value)), value);
    }),
  );
  t.is(toCents('9007199254740993.01'), 900719925474099301n);
});

test('an amount is shown without rounding', (t) => {
  fc.assert(
    fc.property(cents, (value) => {
      const shown = showAmount(fromCents(value));
      t.is(shown.replace(/[^\d.]/g, ''), fromCents(value).replace('-', ''));
      t.is(shown.startsWith('−'), value < 0n);
    }),
  );
  t.is(showAmount('1234567.8'), '¥1,234,567.80');
  t.is(showAmount('-0.05'), '−¥0.05');
  t.is(showAmount('999'), '¥999.00');
});

test('an invalid amount is refused', (t) => {
  for (const text of ['', '1.234', '1,000.00', 'abc', '1e5', '.5', '--1', 'NaN', '１２']) {
    t.false(isAmount(text), text);
    t.throws(() => toCents(text), { instanceOf: SyntaxError }, text);
  }
  t.is(showAmount('unknown'), 'unknown');
  t.true(isAmount(' 12.30 '));
});

test('an amount is typed as it is shown, or with full-width digits', (t) => {
  fc.assert(
    fc.property(cents, (value) => {
      t.is(typedAmount(showAmount(fromCents(value))), fromCents(value));
    }),
  );
  for (const [text, amount] of [
    [' ￥1,234.50 ', '1234.50'],
    ['１２．３０', '12.30'],
    ['12。5', '12.5'],
    // Not a thousand: it stays for the person to put right.
    ['12,50', '12,50'],
    ['1,2345', '1,2345'],
    ['twelve', 'twelve'],
  ] as const)
    t.is(typedAmount(text), amount);
});

interface Entry {
  id: number;
  title: string;
  sort: number;
  children?: Entry[];
}

interface Place {
  id: number;
  parent_id?: number;
  sort?: number;
}

const entry = (id: number, sort: number, children: Entry[] = []): Entry => ({
  ...{ id, sort, children },
  title: `entry ${id}`,
});

const tree = [
  entry(1, 0, [entry(11, 0), entry(12, 0), entry(13, 5)]),
  entry(2, 10, [entry(21, 1, [entry(211, 0)])]),
  entry(3, 20),
];

type Shape = [number, Shape[]];
const shapeOf = (entries: readonly Entry[]): Shape[] =>
  entries.map(({ id, children = [] }) => [id, shapeOf(children)]);

// As the service does: every write by itself, children by position and id.
function written(before: readonly Entry[], places: readonly Place[]): Entry[] {
  const rows = new Map<number, Required<Place>>();
  const read = (entries: readonly Entry[], parent_id: number): void => {
    for (const { id, sort, children = [] } of entries) {
      rows.set(id, { id, parent_id, sort });
      read(children, id);
    }
  };
  read(before, 0);
  for (const place of places) {
    for (let above = place.parent_id ?? 0; above !== 0; above = rows.get(above)?.parent_id ?? 0)
      if (above === place.id) throw new Error(`${place.id} would stand below itself`);
    rows.set(place.id, { ...(rows.get(place.id) as Required<Place>), ...place });
  }
  const below = (parent: number): Entry[] =>
    [...rows.values()]
      .filter(({ parent_id }) => parent_id === parent)
      .sort((one, other) => one.sort - other.sort || one.id - other.id)
      .map(({ id, sort }) => entry(id, sort, below(id)));
  return below(0);
}

test('an entry moves up, down, into its neighbour and out of its parent', (t) => {
  t.deepEqual(
    shapeOf(stepped(tree, 3, 'up')).map(([id]) => id),
    [1, 3, 2],
  );
  t.deepEqual(
    shapeOf(stepped(tree, 1, 'down')).map(([id]) => id),
    [2, 1, 3],
  );
  t.deepEqual(shapeOf(stepped(tree, 3, 'in'))[1], [
    2,
    [
      [21, [[211, []]]],
      [3, []],
    ],
  ]);
  t.deepEqual(
    shapeOf(stepped(tree, 21, 'out')).map(([id]) => id),
    [1, 2, 21, 3],
  );
});

test('a move without a target changes nothing', (t) => {
  for (const [id, step] of [
    [1, 'up'],
    [3, 'down'],
    [1, 'in'],
    [2, 'out'],
    [99, 'up'],
  ] as const)
    t.is(stepped(tree, id, step), tree);
  t.is(moved(tree, 2, 211, 0), tree, 'below itself');
});

test('the writes of any moves lead to the tree shown', (t) => {
  const ids = [1, 2, 3, 11, 12, 13, 21, 211];
  const move = fc.record({
    id: fc.constantFrom(...ids),
    parent: fc.constantFrom(null, ...ids),
    at: fc.nat(3),
  });
  fc.assert(
    fc.property(fc.array(move, { maxLength: 6 }), (moves) => {
      const after = moves.reduce<readonly Entry[]>(
        (now, { id, parent, at }) => moved(now, id, parent, at),
        tree,
      );
      const places = changesOf(tree, after);
      t.deepEqual(shapeOf(written(tree, places)), shapeOf(after));
      t.deepEqual(shapeOf(placed(tree, places)), shapeOf(after), 'made again');
      const step = (now: Place[], { id, parent, at }: (typeof moves)[number]) =>
        changesOf(tree, moved(placed(tree, now), id, parent, at));
      t.deepEqual(moves.reduce(step, []), places, 'one after the other');
    }),
  );
  const back = stepped(placed(tree, changesOf(tree, stepped(tree, 13, 'up'))), 13, 'down');
  t.deepEqual(changesOf(tree, back), [], 'and back');
  t.deepEqual(changesOf(tree, tree), []);
  t.deepEqual(
    changesOf(tree, stepped(tree, 13, 'up')).map(({ id }) => id),
    [11, 13, 12],
  );
});

test('changes made again in a tree that others have changed leave out what no longer fits', (t) => {
  const places = [
    { id: 11, parent_id: 2, sort: 0 },
    { id: 12, parent_id: 3, sort: 0 },
    { id: 13, parent_id: 0, sort: 30 },
    { id: 1, parent_id: 2, sort: 5 },
  ];
  // Without 3 and 13, with 2 below 1 and a new 14.
  const later = [entry(1, 0, [entry(2, 0), entry(11, 0), entry(12, 0), entry(14, 7)])];
  t.deepEqual(shapeOf(placed(later, places)), [
    [
      1,
      [
        [2, [[11, []]]],
        [12, []],
        [14, []],
      ],
    ],
  ]);
  t.deepEqual(
    shapeOf(placed([entry(2, 0, [entry(1, 0)]), entry(3, 5)], changesOf(tree, stepped(tree, 3, 'up')))),
    [
      [3, []],
      [2, [[1, []]]],
    ],
    'what somebody else has moved stays below its new parent',
  );
});

// Every pair of ink and ground can be read: 4.5 to 1, in both themes (WCAG 2.2, 1.4.3).
const enough = 4.5;
const styles = ['app/page.css', 'parts/show/parts.css'].map((file) =>
  readFileSync(resolve(config.root, 'console/src', file), 'utf8'),
);

function channels(colour: string): [number, number, number] {
  const hex = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(colour)?.[1];
  if (!hex) throw new Error(`${colour} is not written as digits`);
  const whole = hex.length === 3 ? hex.replace(/./g, '$&$&') : hex;
  return [0, 2, 4].map((at) => parseInt(whole.slice(at, at + 2), 16)) as [number, number, number];
}

function brightness(colour: string): number {
  const [red, green, blue] = channels(colour).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [low, high] = [brightness(one), brightness(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

test('the contrast formula is that of WCAG', (t) => {
  t.is(contrast('#000000', '#ffffff').toFixed(1), '21.0');
  t.is(contrast('#767676', '#fff').toFixed(2), '4.54');
});

for (const name of ['light', 'dark'] as const) {
  test(`tokens of the library, ${name}`, (t) => {
    const token = library.getDesignToken(themes[name]);
    const inks = [
      ...['colorLinkHover', 'colorLinkActive'],
      ...['colorLink', 'colorError', 'colorTextTertiary', 'colorTextDescription', 'colorTextPlaceholder'],
      ...['colorTextDisabled', 'colorWarning', 'colorSuccess'],
    ] as const;
    const grounds = ['colorBgContainer', 'colorBgElevated'] as const;
    const text = (key: string): string => String((token as unknown as Record<string, unknown>)[key]);
    const onRows = ['colorLink', 'colorTextDescription'] as const;
    const rows = ['controlItemBgActive', 'controlItemBgActiveHover'] as const;
    const weak = [
      ...inks.flatMap((ink) => grounds.map((ground) => [ink, ground] as const)),
      ['colorTextLightSolid', 'colorPrimary'] as const,
      ['colorTextLightSolid', 'colorError'] as const,
      ['colorTextLightSolid', 'colorPrimaryHover'] as const,
      ['colorTextLightSolid', 'colorBgSpotlight'] as const,
      ['colorPrimaryHover', 'colorBgContainer'] as const,
      ...onRows.flatMap((ink) => rows.map((row) => [ink, row] as const)),
    ].filter(([ink, ground]) => contrast(text(ink), text(ground)) < enough);
    t.deepEqual(weak, []);
  });

  test(`own tags and texts, ${name}`, (t) => {
    const [page = '', parts = ''] = styles;
    const pair = String.raw`light-dark\((#\w+), (#\w+)\)`;
    const own = (light = '', dark = ''): string => (name === 'light' ? light : dark);
    const tags = [
      ...parts.matchAll(new RegExp(`\\.tag-(\\w+) \\{\\s*color: ${pair};\\s*background: ${pair};`, 'g')),
    ];
    t.is(tags.length, 5);
    for (const [, tone, ink, darkInk, ground, darkGround] of tags)
      t.true(contrast(own(ink, darkInk), own(ground, darkGround)) >= enough, tone);
    const variables = new Map(
      [...page.matchAll(new RegExp(`--([\\w-]+): ${pair}`, 'g'))].map(([, key, light, dark]) => [
        key,
        own(light, dark),
      ]),
    );
    for (const ink of ['ink', 'ink-soft', 'accent'])
      for (const ground of ['sheet', 'ground'])
        t.true(
          contrast(variables.get(ink) ?? '', variables.get(ground) ?? '') >= enough,
          `${ink} on ${ground}`,
        );
  });
}
