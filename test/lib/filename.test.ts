// Names of files: what stays of them, and where their extension begins. And their contents: one that cannot be read to its end
// says nothing about its kind, so an upload is not given up for it.
import '../support/environment.js';
import { Readable } from 'node:stream';
import test from 'ava';
import fc from 'fast-check';
import { AppError } from '../../src/lib/errors/app-error.js';
import { checkedCharset } from '../../src/lib/files/file-content.js';
import { kindOf, type FileKind } from '../../src/lib/files/file-kinds.js';
import { cleanFilename, extensionOf } from '../../src/lib/files/filename.js';
import { docx, mp4, png, textOf } from '../support/files.js';

test('paths, control characters, direction marks and trailing dots are removed', (t) => {
  const cases: [string, string | undefined][] = [
    ['报表 2026 (1).xlsx', '报表 2026 (1).xlsx'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\Windows\\a.txt', 'a.txt'],
    ['..\\..//a.txt', 'a.txt'],
    ['a\0b\r\n\t.txt', 'ab.txt'],
    ['\u202egpj.exe', 'gpj.exe'],
    ['a\u2066\u200b\ufeff.txt', 'a.txt'],
    [' a.txt. . ', 'a.txt'],
    ['👩‍👩‍👧.png', '👩‍👩‍👧.png'],
    ['e\u0301.txt', 'é.txt'],
    ['\ud800.txt', '\ufffd.txt'],
    ['x'.repeat(255), 'x'.repeat(255)],
    ['x'.repeat(256), undefined],
    ['', undefined],
    ['. .', undefined],
    ['a/', undefined],
    ['\u202e', undefined],
  ];
  for (const [given, kept] of cases) t.is(cleanFilename(given), kept, JSON.stringify(given));
});

test('a name of endless blanks or marks is refused at once', (t) => {
  const started = performance.now();
  for (const part of ['. ', '\u0315\u0300\u0316\u0327'])
    t.is(cleanFilename(`a${part.repeat(40_000 / part.length)}x`), undefined);
  const took = performance.now() - started;
  t.true(took < 500, `${took} ms`);
});

test('a cleaned name stays the same when cleaned again', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (given) => {
      const kept = cleanFilename(given);
      if (kept === undefined) return;
      if (/[/\\\p{Cc}]|^\.+$/u.test(kept) || cleanFilename(kept) !== kept)
        throw new Error(JSON.stringify(kept));
    }),
    { numRuns: 3000 },
  );
  t.pass();
});

test('the extension is the part after the last dot', (t) => {
  const cases: [string, string][] = [
    ['a.TXT', 'txt'],
    ['a.php.jpg', 'jpg'],
    ['a.jpg.php', 'php'],
    ['.htaccess', ''],
    ['..png', ''],
    ['none', ''],
    ['a.', ''],
    ['a .png', 'png'],
  ];
  for (const [name, extension] of cases) t.is(extensionOf(name), extension, name);
});

const kind = (extension: string): FileKind => kindOf(extension) as FileKind;

const whole = (content: Buffer): Readable => Readable.from([content], { objectMode: false });

/** Gives so many bytes, then fails as a connection does. */
const breakingOff = (content: Buffer, after: number): Readable =>
  Readable.from(
    (async function* () {
      yield await Promise.resolve(content.subarray(0, after));
      throw new Error('the connection was lost');
    })(),
    { objectMode: false },
  );

test('an interrupted read is never reported as a wrong file type', async (t) => {
  const text = textOf(5000);
  for (const [extension, content] of [
    ['png', png],
    ['mp4', mp4],
    ['docx', docx],
    ['txt', text],
  ] as const) {
    for (const after of [0, 3, 20, content.length]) {
      // The first look is at the head; it and the reading of the whole break off in turn.
      for (const broken of [1, 2]) {
        let opened = 0;
        const open = (): Promise<Readable> =>
          Promise.resolve(++opened === broken ? breakingOff(content, after) : whole(content));
        const error = await checkedCharset(kind(extension), content.length, open).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        t.false(error instanceof AppError, `${extension} after ${after} bytes, read ${broken}`);
      }
    }
  }
});

test('only texts have an encoding', async (t) => {
  const open = (content: Buffer) => () => Promise.resolve(whole(content));
  const gbk = Buffer.from('d6d0cec4', 'hex');
  t.is(await checkedCharset(kind('txt'), 4, open(gbk)), 'gbk');
  t.is(await checkedCharset(kind('csv'), 6, open(Buffer.from('中文'))), 'utf-8');
  t.is(await checkedCharset(kind('png'), png.length, open(png)), null);
});
