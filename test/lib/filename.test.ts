// Names of files: what stays of them, and where their extension begins.
import test from 'ava';
import fc from 'fast-check';
import { cleanFilename, extensionOf } from '../../src/lib/files/filename.js';

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
