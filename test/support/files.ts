// Contents of files for uploads: the smallest valid ones of each type, and large random ones.
import { createHash, randomBytes } from 'node:crypto';
import { storage } from '../../src/lib/storage/index.js';
import type { Answer, Client } from './client.js';
import { selectRow } from './rows.js';

export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

export const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

export const jpeg = Buffer.concat([
  Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'),
  Buffer.from('ffd9', 'hex'),
]);

export const pdf = Buffer.from(
  '%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n',
);

export const mp4 = Buffer.concat([
  Buffer.from('0000001c6674797069736f6d0000020069736f6d69736f326d703431', 'hex'),
  Buffer.from('000000086d646174', 'hex'),
]);

/** An archive of stored entries. */
export function zipOf(entries: Record<string, string>): Buffer {
  const pieces: Buffer[] = [];
  for (const [name, content] of Object.entries(entries)) {
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(20, 4);
    head.writeUInt32LE(content.length, 18);
    head.writeUInt32LE(content.length, 22);
    head.writeUInt16LE(name.length, 26);
    pieces.push(head, Buffer.from(name), Buffer.from(content));
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  return Buffer.concat([...pieces, end]);
}

export const docx = zipOf({
  '[Content_Types].xml':
    '<Types><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
});

export const sha256 = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex');

/** A text of that many bytes. */
export const textOf = (bytes: number): Buffer =>
  Buffer.from(
    randomBytes(Math.ceil(bytes / 2))
      .toString('hex')
      .slice(0, bytes),
  );

/** Cuts a content into chunks. */
export function chunksOf(content: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < content.length; at += size) chunks.push(content.subarray(at, at + size));
  return chunks;
}

/** Sends a chunk as the specification shows it. */
export const sendChunk = (
  client: Client,
  chunk_id: string,
  chunk_index: number,
  content: Uint8Array | string,
  more: Record<string, string | number> = {},
): Promise<Answer> =>
  client.upload('/attachments/chunk', content, {
    filename: 'blob',
    fields: { action: 'upload', chunk_id, chunk_index, ...more },
  });

/** The storage key of an attachment. */
export async function keyOf(id: number): Promise<string> {
  const sql = 'SELECT storage_key FROM attachments WHERE id = ?';
  return (await selectRow<{ storage_key: string }>(sql, [id])).storage_key;
}

/** Which of these keys have a file. */
export async function storedOf(keys: readonly string[]): Promise<string[]> {
  const driver = await storage();
  const found = await Promise.all(keys.map((key) => driver.stat(key)));
  return keys.filter((_, index) => found[index] !== undefined);
}
