// Checks that a file's content matches its extension.
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { fail } from '../errors/app-error.js';
import type { ByteRange } from '../storage/storage.js';
import type { FileKind } from './file-kinds.js';

/** Reads the file, or one range of it. */
type OpenFile = (range?: ByteRange) => Promise<Readable>;

/** Container formats are recognised within this many bytes. */
const telling = 16 * 1024 * 1024;
const headBytes = 1024;

// Content that a browser or an interpreter would execute.
const markup = /<(?:!doctype|html|head|body|script|svg|iframe|object|embed|\?php|\?xml|%)/i;
const control = /(?![\t\n\f\r])[\p{Cc}]/u;
const program = /^(?:#!|<[a-z!?%/])/i;

const charsets = ['utf-8', 'gbk'] as const;

/** By its label in WHATWG Encoding. */
export type Charset = (typeof charsets)[number];

/**
 * Checks that the content is of the kind: by its signature, or for texts by being a text without markup.
 *
 * @param size bytes of the file
 * @returns the charset of a text; null for other kinds
 * @throws file_content_mismatch
 */
export async function checkedCharset(kind: FileKind, size: number, open: OpenFile): Promise<Charset | null> {
  const head = await buffer(await open({ start: 0, end: Math.min(size, headBytes) - 1 }));
  if (kind.content === 'text') {
    const start = head.toString('latin1').replace(/^(?:\xef\xbb\xbf|\s)+/, '');
    const isProgram = program.test(start) || markup.test(start);
    const charset = isProgram ? undefined : await charsetOf(open);
    return charset ?? fail('file_content_mismatch', { field: 'file' });
  }
  const found = await signatureOf(await open({ start: 0, end: Math.min(size, telling) - 1 }));
  const isOfKind = found !== undefined && kind.content.includes(found);
  // A picture or film that begins with markup could be taken for a page.
  const isDisguised = /^(?:image|video|audio)\//.test(kind.mime) && markup.test(head.toString('latin1'));
  return isOfKind && !isDisguised ? null : fail('file_content_mismatch', { field: 'file' });
}

/** The media type by signature, if known. */
async function signatureOf(content: Readable): Promise<string | undefined> {
  const { fileTypeFromStream } = await import('file-type');
  let broken: Error | undefined;
  content.once('error', (error) => (broken = error));
  // Content that cannot be read to its end is not a mismatch.
  const found = await fileTypeFromStream(content).catch((error: unknown) => {
    if (broken) throw error;
  });
  return found?.mime;
}

async function charsetOf(open: OpenFile): Promise<Charset | undefined> {
  for (const charset of charsets) if (await isTextIn(charset, await open())) return charset;
  return undefined;
}

// Valid to the end, without control characters other than tab, line ends and form feed.
async function isTextIn(charset: Charset, content: Readable): Promise<boolean> {
  const decoder = new TextDecoder(charset, { fatal: true });
  try {
    for await (const bytes of content) {
      if (control.test(decoder.decode(bytes as Buffer, { stream: true }))) return false;
    }
    return !control.test(decoder.decode());
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}
