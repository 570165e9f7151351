// Sharing one computation among callers (lib/single-flight.ts), also one that hangs.
import test from 'ava';
import { singleFlight } from '../../src/lib/single-flight.js';

function counted() {
  const runs: { resolve: (value: number) => void; reject: (error: Error) => void }[] = [];
  const ask = singleFlight(() => new Promise<number>((resolve, reject) => runs.push({ resolve, reject })));
  return { runs, ask };
}

test('a computation that runs is shared, however old it is', async (t) => {
  const { runs, ask } = counted();
  const asked = [ask('a', 0), ask('a', 0), ask('a', 1000)];
  t.is(runs.length, 1);
  runs[0]?.resolve(1);
  t.deepEqual(await Promise.all(asked), [1, 1, 1]);
});

test('a value is used until it is too old', async (t) => {
  const { runs, ask } = counted();
  const first = ask('a', 0);
  runs[0]?.resolve(1);
  t.is(await first, 1);
  t.is(await ask('a', 60_000), 1);
  const second = ask('a', 0);
  runs[1]?.resolve(2);
  t.is(await second, 2);
});

test('a failed computation is repeated', async (t) => {
  const { runs, ask } = counted();
  const first = ask('a', 60_000);
  runs[0]?.reject(new Error('not now'));
  await t.throwsAsync(first, { message: 'not now' });
  const second = ask('a', 60_000);
  runs[1]?.resolve(2);
  t.is(await second, 2);
});

test('keys have computations of their own', (t) => {
  const { runs, ask } = counted();
  void ask('a', 0);
  void ask('b', 0);
  t.is(runs.length, 2);
});
