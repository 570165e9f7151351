// The state of a list in its URL.
import test from 'ava';
import fc from 'fast-check';
import { consoleModule } from '../support/console-module.js';

interface State {
  page: number;
  order: string;
  filters: Readonly<Record<string, string>>;
}

const { decode, encode } = await consoleModule<{
  decode: (search: URLSearchParams, checks: object, sortable: readonly string[]) => State;
  encode: (state: State) => URLSearchParams;
}>('parts/list/codec.ts');

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
