// /dictionaries: types and their entries, and unique codes.
import '../support/settings/shared-environment.js';
import test from 'ava';
import { unique } from '../support/factories.js';
import { service } from '../support/shared-service.js';

const entry = async (more: object) =>
  (await service.admin.post('/dictionaries', { name: 'n', ...more })).data;

test('codes are unique among siblings only', async (t) => {
  const code = unique('c');
  const type = await entry({ code });
  const other = await entry({ code: unique('c') });
  await entry({ code: 'red', parent_id: type.id });
  t.is((await service.admin.post('/dictionaries', { name: 'n', code, parent_id: other.id })).status, 200);
  const twice = await service.admin.post('/dictionaries', { name: 'n', code: 'red', parent_id: type.id });
  t.is(twice.status, 422);
  t.is(twice.code, 30002);
  t.truthy(twice.errors?.code);
});

test('a code and a value are any short text', async (t) => {
  for (const text of ['支付 方式', 'a/b?c#d', '.hidden', '50 %', '😀'.repeat(25)]) {
    const code = `${unique()}${text}`.slice(-50);
    const type = await entry({ code });
    t.is(type.code, code);
    const { id, value } = await entry({ parent_id: type.id, code: text, value: text });
    t.is(value, text);
    const path = `/dictionaries/type/${encodeURIComponent(code)}`;
    t.deepEqual(
      (await service.admin.get(path)).data.map((one: { id: number }) => one.id),
      [id],
    );
    const options = await service.admin.get(`/options?type=${encodeURIComponent(`dictionary:${code}`)}`);
    t.deepEqual(options.data, [{ value: text, label: 'n' }]);
  }
  t.deepEqual((await service.admin.post('/dictionaries', { name: 'n', code: '' })).fields, ['code']);
  const tooLong = await service.admin.post('/dictionaries', { name: 'n', code: 'x'.repeat(51) });
  t.deepEqual([tooLong.status, tooLong.fields], [422, ['code']]);
});

test('an entry whose value was emptied is an option with its code', async (t) => {
  const type = await entry({ code: unique('c') });
  const { id } = await entry({ parent_id: type.id, code: 'red', value: '#e00' });
  t.is((await service.admin.put(`/dictionaries/${id}`, { value: '' })).data.value, null);
  const { data } = await service.admin.get(`/options?type=dictionary:${type.code}`);
  t.deepEqual(data, [{ value: 'red', label: 'n' }]);
});

test('a code names its own entries only', async (t) => {
  const code = unique('c');
  const type = await entry({ code: `${code}😀` });
  await entry({ parent_id: type.id, code: 'one' });
  const entriesOf = async (asked: string) =>
    (await service.admin.get(`/dictionaries/type/${encodeURIComponent(asked)}`)).data.length;
  t.is(await entriesOf(`${code.toUpperCase()}😀`), 1);
  t.is(await entriesOf(`${code}🚀`), 0);
});

test('a dictionary type with entries cannot be deleted', async (t) => {
  const type = await entry({ code: unique('c') });
  const below = await entry({ code: 'a', parent_id: type.id });
  t.is((await service.admin.delete(`/dictionaries/${type.id}`)).errorCode, 'dictionary_has_children');
  await service.admin.delete(`/dictionaries/${below.id}`);
  t.is((await service.admin.delete(`/dictionaries/${type.id}`)).status, 200);
});

test('a changed entry is served on the next request', async (t) => {
  const code = unique('c');
  const type = await entry({ code });
  const values = async () =>
    (await service.admin.get(`/dictionaries/type/${code}`)).data.map((one: { value: string }) => one.value);
  t.deepEqual(await values(), []);
  const red = await entry({ code: 'red', value: '#f00', parent_id: type.id });
  t.deepEqual(await values(), ['#f00']);
  await service.admin.put(`/dictionaries/${red.id}`, { value: '#e00' });
  t.deepEqual(await values(), ['#e00']);
  const options = await service.admin.get(`/options?type=dictionary:${code}`);
  t.deepEqual(options.data, [{ value: '#e00', label: 'n' }]);
  await service.admin.put(`/dictionaries/${red.id}`, { status: 0 });
  t.deepEqual(await values(), []);
  await service.admin.put(`/dictionaries/${type.id}`, { status: 0 });
  t.deepEqual(await values(), []);
});

test('a dictionary type cannot be moved below its own entry', async (t) => {
  const type = await entry({ code: unique('c') });
  const below = await entry({ code: 'a', parent_id: type.id });
  const moved = await service.admin.put(`/dictionaries/${type.id}`, { parent_id: below.id });
  t.is(moved.errorCode, 'dictionary_cycle');
});
