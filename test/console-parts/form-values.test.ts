// Values of a form: initial ones, those that are sent, and what happens when somebody else changes the row.
import test from 'ava';
import fc from 'fast-check';
import { consoleModule } from '../support/console-module.js';

type Row = Record<string, unknown>;

const { changed, given, initialOf, rebase, touched } = await consoleModule<{
  changed: (values: Row, base: Row, required?: readonly string[]) => Row;
  given: (values: Row) => Row;
  initialOf: (fields: object, row: Row | undefined) => Row;
  touched: (values: Row, base: Row) => Row;
  rebase: (values: Row, base: Row, latest: Row) => { taken: Row; conflicts: string[] };
}>('parts/form/form-values.ts');

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
