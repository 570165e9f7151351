// Files on the local disk: written under a temporary name, renamed when complete; file and folder are synced.
import { createReadStream } from 'node:fs';
import { mkdir, open, opendir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Readable } from 'node:stream';
import { FileWriter } from '../files/file-writer.js';
import { privateFolder, removeOldFiles } from '../files/folder.js';
import { randomToken } from '../secrets/random-id.js';
import { type ByteRange, type Composed, Digest, FileMissing, type Storage, StorageFull } from './storage.js';

/** Large, because each block costs a round trip to a worker thread. */
const blockBytes = 4 * 1024 * 1024;
/** Smaller: downloads are as quick, and many may run at once. */
const readBytes = 256 * 1024;

export class LocalStorage implements Storage {
  readonly #root: string;
  /** Unfinished files, on the same file system so that a rename suffices. */
  readonly #partial: string;

  constructor(root: string) {
    this.#root = root;
    this.#partial = join(root, 'partial');
  }

  async put(key: string, content: Readable): Promise<number> {
    return this.#write(key, async (writer) => {
      for await (const piece of content)
        await writer.write(typeof piece === 'string' ? Buffer.from(piece) : (piece as Buffer));
      return writer.size;
    });
  }

  async putFile(key: string, path: string): Promise<void> {
    try {
      await this.#moveIn(path, key, () => sync(this.#path(key)));
    } catch (error) {
      if (codeOf(error) !== 'EXDEV') throw readable(error);
      await this.put(key, createReadStream(path));
      await rm(path, { force: true });
    }
  }

  async get(key: string, range?: ByteRange): Promise<Readable> {
    const file = await openFile(this.#path(key), key);
    return file.createReadStream({ ...range, highWaterMark: readBytes });
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

  async *keys(folders: readonly string[]): AsyncGenerator<string> {
    for (const folder of folders) {
      const entries = await opendir(join(this.#root, folder), { recursive: true }).catch(nothingThere);
      for await (const entry of entries ?? [])
        if (entry.isFile()) yield relative(this.#root, join(entry.parentPath, entry.name));
    }
  }

  compose(key: string, parts: readonly string[], signal: AbortSignal): Promise<Composed> {
    return this.#write(key, async (writer) => {
      const digest = new Digest();
      for await (const block of this.#contentOf(parts, signal)) {
        digest.add(block);
        await writer.write(block);
      }
      return digest.result();
    });
  }

  async sweep(before: Date): Promise<void> {
    await removeOldFiles(this.#partial, before);
  }

  // One block for everything: fresh memory would cost more than the read.
  async *#contentOf(parts: readonly string[], signal: AbortSignal): AsyncGenerator<Buffer> {
    const block = Buffer.allocUnsafeSlow(blockBytes);
    for (const key of parts) {
      const file = await openFile(this.#path(key), key);
      try {
        for (;;) {
          signal.throwIfAborted();
          const { bytesRead } = await file.read(block, 0, blockBytes);
          if (bytesRead === 0) break;
          yield block.subarray(0, bytesRead);
        }
      } finally {
        await file.close();
      }
    }
  }

  async #write<T>(key: string, fill: (writer: FileWriter) => Promise<T>): Promise<T> {
    await mustHave(this.#partial);
    const temporary = join(this.#partial, randomToken(12));
    try {
      const writer = await FileWriter.create(temporary, blockBytes);
      try {
        const result = await fill(writer);
        await writer.end();
        await this.#moveIn(temporary, key, () => writer.sync());
        return result;
      } finally {
        await writer.close();
      }
    } catch (error) {
      await rm(temporary, { force: true });
      throw readable(error);
    }
  }

  /**
   * Renames a complete file, then makes both durable. (The reverse order would write the file system's journal
   * twice; a crash in between leaves an orphaned file.)
   */
  async #moveIn(path: string, key: string, syncFile: () => Promise<void>): Promise<void> {
    const place = this.#path(key);
    await mustHave(dirname(place));
    await rename(path, place);
    try {
      await syncFile();
      await sync(dirname(place));
    } catch (error) {
      await rm(place, { force: true });
      throw error;
    }
  }

  #path(key: string): string {
    if (!/^[A-Za-z0-9-]+(\/[A-Za-z0-9-]+)*$/.test(key)) throw new Error(`${key} is no storage key`);
    return join(this.#root, key);
  }
}

const codeOf = (error: unknown): string | undefined => (error as { code?: string } | undefined)?.code;

const full = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Whether a write failed because the disk is full. */
export const isDiskFull = (error: unknown): boolean => full.has(codeOf(error) ?? '');

const readable = (error: unknown): unknown =>
  isDiskFull(error) ? new StorageFull('the disk is full', { cause: error }) : error;

// A new folder is durable only when its parent is synced too.
async function mustHave(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: privateFolder });
  if (made === undefined) return;
  for (let path = folder; path.length >= made.length; path = dirname(path)) await sync(dirname(path));
}

function nothingThere(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
}

async function openFile(path: string, key: string): Promise<FileHandle> {
  try {
    return await open(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw new FileMissing(`there is no file ${key}`, { cause: error });
    throw error;
  }
}

async function sync(path: string): Promise<void> {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
