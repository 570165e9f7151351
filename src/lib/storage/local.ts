// Files on the local disk: written under a temporary name, synced, renamed, the folder synced.
import { createHash } from 'node:crypto';
import { copyFile, mkdir, open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { removeOldFiles } from '../folder.js';
import { randomToken } from '../random-id.js';
import {
  FileMissing,
  StorageFull,
  type ByteRange,
  type Composed,
  type Storage,
  type StoredPart,
} from './storage.js';

const blockBytes = 1024 * 1024;

export class LocalStorage implements Storage {
  readonly #root: string;
  /** Files on their way; on the same file system as those that are whole, so that moving one costs nothing. */
  readonly #partial: string;

  constructor(root: string) {
    this.#root = root;
    this.#partial = join(root, 'partial');
  }

  async put(key: string, content: Readable): Promise<number> {
    return this.#write(key, (file) => fill(file, content));
  }

  async putFile(key: string, path: string): Promise<void> {
    try {
      await sync(path);
      await this.#moveIn(path, key);
    } catch (error) {
      if (codeOf(error) !== 'EXDEV') throw readable(error);
      await this.#write(key, (_, temporary) => copyFile(path, temporary));
      await rm(path, { force: true });
    }
  }

  async get(key: string, range?: ByteRange): Promise<Readable> {
    const file = await openFile(this.#path(key), key);
    return file.createReadStream({ ...range, highWaterMark: blockBytes / 4 });
  }

  async stat(key: string): Promise<{ size: number } | undefined> {
    try {
      return { size: (await stat(this.#path(key))).size };
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  async remove(key: string): Promise<void> {
    await rm(this.#path(key), { force: true });
  }

  compose(key: string, parts: readonly StoredPart[], signal: AbortSignal): Promise<Composed> {
    return this.#write(key, async (file) => {
      const hash = createHash('sha256');
      const size = await fill(file, this.#contentOf(parts, signal), (block) => hash.update(block));
      return { size, sha256: hash.digest('hex') };
    });
  }

  async sweep(before: Date): Promise<void> {
    await removeOldFiles(this.#partial, before);
  }

  async *#contentOf(parts: readonly StoredPart[], signal: AbortSignal): AsyncGenerator<Buffer> {
    for (const { key } of parts) {
      const file = await openFile(this.#path(key), key);
      for await (const block of file.createReadStream({ highWaterMark: blockBytes })) {
        signal.throwIfAborted();
        yield block as Buffer;
      }
    }
  }

  async #write<T>(key: string, fill: (file: FileHandle, temporary: string) => Promise<T>): Promise<T> {
    await mustHave(this.#partial);
    const temporary = join(this.#partial, randomToken(12));
    try {
      const file = await open(temporary, 'wx');
      try {
        const result = await fill(file, temporary);
        await file.sync();
        await this.#moveIn(temporary, key);
        return result;
      } finally {
        await file.close();
      }
    } catch (error) {
      await rm(temporary, { force: true });
      throw readable(error);
    }
  }

  /** Gives a synced file its place. */
  async #moveIn(path: string, key: string): Promise<void> {
    const place = this.#path(key);
    await mustHave(dirname(place));
    await rename(path, place);
    await sync(dirname(place));
  }

  #path(key: string): string {
    if (!/^[A-Za-z0-9-]+(\/[A-Za-z0-9-]+)*$/.test(key)) throw new Error(`${key} is no storage key`);
    return join(this.#root, key);
  }
}

const codeOf = (error: unknown): string | undefined => (error as { code?: string } | undefined)?.code;

const full = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Whether a write failed because the disk has no room for it. */
export const isDiskFull = (error: unknown): boolean => full.has(codeOf(error) ?? '');

const readable = (error: unknown): unknown =>
  isDiskFull(error) ? new StorageFull('the disk is full', { cause: error }) : error;

// A new folder is only there for good when the one above it is written, too.
async function mustHave(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true });
  if (made === undefined) return;
  for (let path = folder; path.length >= made.length; path = dirname(path)) await sync(dirname(path));
}

async function openFile(path: string, key: string): Promise<FileHandle> {
  try {
    return await open(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw new FileMissing(`there is no file ${key}`, { cause: error });
    throw error;
  }
}

/** Writes a content to its end: while one block is written, the next one is read and looked at. @returns its size */
async function fill(
  file: FileHandle,
  content: AsyncIterable<unknown>,
  look?: (block: Buffer) => void,
): Promise<number> {
  let size = 0;
  let written: Promise<void> = Promise.resolve();
  for await (const block of content as AsyncIterable<Buffer>) {
    await written;
    written = writeAll(file, block);
    // Its failure is met where it is awaited.
    written.catch(() => undefined);
    look?.(block);
    size += block.length;
  }
  await written;
  return size;
}

async function writeAll(file: FileHandle, block: Buffer): Promise<void> {
  for (let done = 0; done < block.length;) done += (await file.write(block, done)).bytesWritten;
}

async function sync(path: string): Promise<void> {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
