// What waits on the local disk (lib/spool.ts): its limit, and lines that were not written whole.
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { Spool } from '../../src/lib/spool.js';

const line = (name: string) => JSON.stringify({ name, text: 'x'.repeat(80) });

function makeSpool(maxBytes = 1000) {
  const folder = join(mkdtempSync(join(tmpdir(), 'spool-')), 'lines');
  const spool = new Spool(folder, maxBytes);
  const taken: string[] = [];
  const take = () =>
    spool.takeAll((lines) => {
      taken.push(...lines);
      return Promise.resolve();
    });
  return { spool, folder, taken, take, own: join(folder, `${hostname()}-${process.pid}.ndjson`) };
}

const refuse = () => Promise.reject(new Error('not now'));

test('the limit holds for everything that could not be passed on', async (t) => {
  const { spool, folder, taken, take } = makeSpool();
  let stored = 0;
  for (let round = 0; round < 20; round++) {
    if (await spool.append([line(`round ${round}`)])) stored++;
    await t.throwsAsync(spool.takeAll(refuse));
    t.false(spool.isEmpty);
  }
  t.is(stored, 9, 'nine lines of some 105 bytes each');
  t.true(readdirSync(folder).length <= 2, 'what waits is not cut into ever more files');
  await take();
  t.is(taken.length, 9);
  t.true(spool.isEmpty);
  t.deepEqual(readdirSync(folder), []);
  t.true(await spool.append([line('there is room again')]));
});

test('a line after one that was not written whole is a line of its own', async (t) => {
  const { spool, taken, take, own, folder } = makeSpool();
  mkdirSync(own, { recursive: true });
  await t.throwsAsync(spool.append([line('lost')]), { code: 'EISDIR' });
  t.false(spool.isEmpty);
  rmdirSync(own);
  appendFileSync(own, '{"name":"ha');
  t.true(await spool.append([line('whole')]));
  await take();
  t.deepEqual(taken, ['{"name":"ha', line('whole')]);
  t.deepEqual(readdirSync(folder), []);
});

test('concurrent takers share one pass', async (t) => {
  const { spool, taken, take } = makeSpool();
  await spool.append([line('one')]);
  await Promise.all([take(), take(), take()]);
  t.deepEqual(taken, [line('one')]);
});

test('lines stored while others are passed on are kept', async (t) => {
  const { spool, taken, take } = makeSpool();
  await spool.append([line('first')]);
  await spool.takeAll(async (lines) => {
    taken.push(...lines);
    await spool.append([line('second')]);
  });
  t.false(spool.isEmpty);
  await take();
  t.deepEqual(taken, [line('first'), line('second')]);
});
