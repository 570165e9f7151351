// A content that cannot be read to its end says nothing about its kind: an upload is not given up for it.
import '../support/environment.js';
import { Readable } from 'node:stream';
import test from 'ava';
import { AppError } from '../../src/lib/errors/app-error.js';
import { checkedCharset } from '../../src/lib/files/file-content.js';
import { kindOf, type FileKind } from '../../src/lib/files/file-kinds.js';
import { docx, mp4, png, textOf } from '../support/files.js';

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
