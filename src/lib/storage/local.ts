// Files on the local disk: written under a temporary name, renamed when complete; file and folder are synced.
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { privateFolder, removeOldFiles } from '../files/folder.js';
import { randomToken } from '../secrets/random-id.js';
import {
  type ByteRange,
  type Composed,
  contentOf,
  Digest,
  FileMissing,
  observed,
  type Storage,
  StorageFull,
} from './storage.js';

/** Each block costs a round trip to a worker thread. */
const blockBytes = 256 * 1024;

export class LocalStorage implements Storage {
  readonly #root: string;
  /** Unfinished files, on the same file system so that a rename suffices. */
  readonly #partial: string;

  constructor(root: string) {
    this.#root = root;
    this.#partial = join(root, 'partial');
  }

  async put(key: string, content: Readable): Promise<number> {
    let size = 0;
    await this.#write(
      key,
      observed(content, (bytes) => (size += bytes.length)),
    );
    return size;
  }

  async putFile(key: string, path: string): Promise<void> {
    try {
      await sync(path);
      await this.#moveIn(path, key);
    } catch (error) {
      if (codeOf(error) !== 'EXDEV') throw readable(error);
      await this.put(key, createReadStream(path));
      await rm(path, { force: true });
    }
  }

  async get(key: string, range?: ByteRange): Promise<Readable> {
    try {
      const file = await open(this.#path(key));
      return file.createReadStream({ ...range, highWaterMark: blockBytes });
    } catch (error) {
      if (codeOf(error) === 'ENOENT') throw new FileMissing(`there is no file ${key}`, { cause: error });
      throw error;
    }
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

  async compose(key: string, parts: readonly string[], signal: AbortSignal): Promise<Composed> {
    const digest = new Digest();
    await this.#write(
      key,
      observed(contentOf(this, parts, signal), (bytes) => digest.add(bytes)),
    );
    return digest.result();
  }

  async sweep(before: Date): Promise<void> {
    await removeOldFiles(this.#partial, before);
  }

  async #write(key: string, content: AsyncIterable<Buffer>): Promise<void> {
    await mustHave(this.#partial);
    const temporary = join(this.#partial, randomToken(12));
    try {
      // `flush` syncs the file before it is closed.
      const options = { flags: 'wx', mode: 0o600, highWaterMark: blockBytes, flush: true };
      await pipeline(content, createWriteStream(temporary, options));
      await this.#moveIn(temporary, key);
    } catch (error) {
      await rm(temporary, { force: true });
      throw readable(error);
    }
  }

  /** Renames a file that is complete and synced, and makes that durable too. */
  async #moveIn(path: string, key: string): Promise<void> {
    const place = this.#path(key);
    await mustHave(dirname(place));
    await rename(path, place);
    try {
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

async function sync(path: string): Promise<void> {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
