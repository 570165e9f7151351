// The storage drivers: one contract, held by the local disk and by S3.
import '../support/settings/environment.js';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import test from 'ava';
import { LocalStorage } from '../../src/lib/storage/local.js';
import { S3Storage } from '../../src/lib/storage/s3.js';
import type { S3Settings } from '../../src/lib/storage/s3-client.js';
import { FileMissing, StorageUnavailable, type Storage } from '../../src/lib/storage/storage.js';
import { sha256, textOf } from '../support/files.js';
import { startS3, type S3Server } from '../support/servers/s3.js';

const folder = mkdtempSync(join(tmpdir(), 'storage-'));
let server: S3Server;

test.before(async () => {
  server = await startS3();
});

test.after.always(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server.stop();
});

const s3Of = (server: S3Server, more: Partial<S3Settings> = {}): S3Storage =>
  new S3Storage({
    endpoint: server.env.S3_ENDPOINT,
    ...{ region: 'us-east-1', bucket: 'files', accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    ...{ forcePathStyle: true, presignedDownloads: false, timeoutMs: 10_000, prefix: 'tenant/', ...more },
  });

const drivers: Record<string, () => Storage> = {
  local: () => new LocalStorage(join(folder, 'local')),
  s3: () => s3Of(server),
};

let count = 0;
const newKey = (): string => `attachments/2026-11/KEY${++count}`;

const spool = (content: Buffer): string => {
  const path = join(folder, `spool-${++count}`);
  writeFileSync(path, content);
  return path;
};

const never = new AbortController().signal;

for (const [name, make] of Object.entries(drivers)) {
  test(`${name}: a stored stream is read back whole and in ranges`, async (t) => {
    const driver = make();
    const key = newKey();
    const content = textOf(300_000);
    t.is(await driver.put(key, Readable.from([content.subarray(0, 1000), content.subarray(1000)])), 300_000);
    t.deepEqual(await driver.stat(key), { size: 300_000 });
    const read = async (start?: number, end?: number): Promise<string> =>
      text(await driver.get(key, start === undefined ? undefined : { start, end: end as number }));
    const whole = content.toString();
    t.true((await read()) === whole);
    t.is(await read(0, 1), whole.slice(0, 2));
    t.is(await read(5, 9), whole.slice(5, 10));
    t.true((await read(70_000, 299_999)) === whole.slice(70_000));
    const words = newKey();
    t.is(await driver.put(words, Readable.from(['茶', 'a'])), 4);
    t.is(await text(await driver.get(words)), '茶a');
    await driver.remove(key);
    t.is(await driver.stat(key), undefined);
    await t.throwsAsync(driver.get(key), { instanceOf: FileMissing });
    await driver.remove(key);
  });

  test(`${name}: a local file is stored`, async (t) => {
    const driver = make();
    for (const content of [textOf(10), textOf(20_000_000)]) {
      const [key, path] = [newKey(), spool(content)];
      await driver.putFile(key, path);
      t.false(existsSync(path));
      t.is(sha256(await text(await driver.get(key))), sha256(content));
    }
  });

  test(`${name}: an interrupted stream leaves nothing under its key`, async (t) => {
    const driver = make();
    const key = newKey();
    const broken = Readable.from(
      (async function* () {
        yield await Promise.resolve(textOf(100_000));
        throw new Error('the source broke off');
      })(),
    );
    await t.throwsAsync(driver.put(key, broken), { message: 'the source broke off' });
    t.is(await driver.stat(key), undefined);
  });

  test(`${name}: parts are composed into one file in order`, async (t) => {
    const driver = make();
    const mebibyte = 1024 * 1024;
    for (const sizes of [
      [1],
      [10, 20, 5],
      [5 * mebibyte, 5 * mebibyte, 6 * mebibyte, 17],
      [6 * mebibyte, 3, 9],
    ]) {
      const parts = sizes.map((size) => ({ key: newKey(), size, content: textOf(size) }));
      for (const { key, content } of parts) await driver.put(key, Readable.from([content]));
      const whole = Buffer.concat(parts.map(({ content }) => content));
      const key = newKey();
      const keys = parts.map((part) => part.key);
      t.deepEqual(await driver.compose(key, keys, never), { size: whole.length, sha256: sha256(whole) });
      const stored = createHash('sha256');
      for await (const bytes of await driver.get(key)) stored.update(bytes as Buffer);
      t.is(stored.digest('hex'), sha256(whole));
      t.deepEqual(await driver.stat(parts[0]?.key ?? ''), { size: sizes[0] as number }, 'the parts stay');
    }
  });

  test(`${name}: composing fails when a part is missing`, async (t) => {
    const driver = make();
    const parts = [newKey(), newKey()];
    for (const key of parts) await driver.put(key, Readable.from([textOf(6 * 1024 * 1024)]));
    const gone = [...parts, newKey()];
    const [one, other] = [newKey(), newKey()];
    await t.throwsAsync(driver.compose(one, gone, never), { any: true });
    await t.throwsAsync(driver.compose(other, parts, AbortSignal.abort(new Error('stopped'))), { any: true });
    for (const key of [one, other]) t.is(await driver.stat(key), undefined);
  });
}

test.serial('old unfinished uploads are removed by age', async (t) => {
  const own = await startS3();
  t.teardown(() => own.stop());
  const driver = s3Of(own);
  const parts = [newKey(), newKey()];
  for (const key of parts) await driver.put(key, Readable.from([textOf(6 * 1024 * 1024)]));
  // As when the process dies between two requests: the store hears nothing of this upload any more.
  own.cut((method, url) => /partNumber=2/.test(url) || method === 'DELETE');
  const key = newKey();
  await t.throwsAsync(driver.compose(key, parts, never), { instanceOf: StorageUnavailable });
  own.cut(() => false);
  t.deepEqual(own.uploads(), [`tenant/${key}`]);
  const later = new Date(Date.now() + 1000);
  await driver.sweep(later, ['exports']);
  await driver.sweep(new Date(Date.now() - 60_000), ['attachments']);
  t.deepEqual(own.uploads(), [`tenant/${key}`]);
  await driver.sweep(later, ['attachments']);
  t.deepEqual(own.uploads(), []);
});

test.serial('a store that does not answer times out', async (t) => {
  const held = await startS3();
  let isStopped = false;
  t.teardown(() => (isStopped ? undefined : held.stop()));
  const driver = s3Of(held, { timeoutMs: 500 });
  const key = newKey();
  await driver.put(key, Readable.from(['there']));
  held.hold(() => true);
  const expected = { instanceOf: StorageUnavailable };
  await Promise.all([
    t.throwsAsync(driver.get(key), expected),
    t.throwsAsync(driver.stat(key), expected),
    t.throwsAsync(driver.put(newKey(), Readable.from(['x'])), expected),
    t.throwsAsync(driver.remove(key), expected),
  ]);
  held.hold(() => false);
  t.is(await text(await driver.get(key)), 'there');
  await held.stop();
  isStopped = true;
  await t.throwsAsync(driver.get(key), expected);
});

test('a missing bucket is not a missing file', async (t) => {
  const driver = s3Of(server, { bucket: 'another' });
  const message = 'the store answers NoSuchBucket';
  const error = await t.throwsAsync(driver.get(newKey()), { instanceOf: StorageUnavailable, message });
  t.like(error.cause, { name: 'NoSuchBucket' });
});

test('a presigned address downloads the file under its name', async (t) => {
  t.is(s3Of(server).downloadUrl, undefined);
  const driver = s3Of(server, { presignedDownloads: true });
  const key = newKey();
  await driver.put(key, Readable.from(['signed']));
  const url = (await driver.downloadUrl?.(key, 'attachment; filename="a.txt"', 'text/plain')) ?? '';
  const response = await fetch(url);
  t.deepEqual([response.status, await response.text()], [200, 'signed']);
  t.is(response.headers.get('content-disposition'), 'attachment; filename="a.txt"');
  t.is(response.headers.get('content-type')?.split(';')[0], 'text/plain');
});

test('keys that could escape the folder are refused', async (t) => {
  const driver = new LocalStorage(join(folder, 'local'));
  for (const key of ['../a', '/etc/passwd', 'a/../b', 'a//b', 'a/', 'a\0b', '.', 'a.b', ''])
    await t.throwsAsync(driver.stat(key), { message: /is no storage key/ }, JSON.stringify(key));
});

test('local: leftovers of a crash are removed by age', async (t) => {
  const root = join(folder, 'swept');
  const driver = new LocalStorage(root);
  await driver.put(newKey(), Readable.from(['x']));
  const partial = join(root, 'partial');
  t.deepEqual(readdirSync(partial), []);
  mkdirSync(join(partial, 'folder'));
  for (const name of ['old', 'new']) writeFileSync(join(partial, name), name);
  const day = 86_400_000;
  utimesSync(join(partial, 'old'), new Date(Date.now() - 2 * day), new Date(Date.now() - 2 * day));
  await driver.sweep(new Date(Date.now() - day));
  t.deepEqual(readdirSync(partial).sort(), ['folder', 'new']);
});
