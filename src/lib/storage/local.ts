// Files on the local disk: written under a temporary name, synced, renamed, the folder synced.
import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { randomToken } from '../random-id.js';
import { FileMissing, StorageFull, type ByteRange, type Storage } from './storage.js';

export class LocalStorage implements Storage {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  async put(key: string, content: Readable): Promise<number> {
    return this.#write(key, async (temporary) => {
      const target = createWriteStream(temporary, { flags: 'wx' });
      await pipeline(content, target);
      return target.bytesWritten;
    });
  }

  async putFile(key: string, path: string): Promise<void> {
    await this.#write(key, async (temporary) => {
      await rename(path, temporary).catch(async (error: unknown) => {
        if (codeOf(error) !== 'EXDEV') throw error;
        await copyFile(path, temporary);
        await rm(path, { force: true });
      });
      return 0;
    });
  }

  async get(key: string, range?: ByteRange): Promise<Readable> {
    const file = await open(this.#path(key)).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') throw new FileMissing(`there is no file ${key}`, { cause: error });
      throw error;
    });
    return createReadStream('', { fd: file, ...range });
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

  async compose(
    key: string,
    parts: readonly string[],
    { onBytes, signal }: { onBytes?: (bytes: Buffer) => void; signal?: AbortSignal },
  ): Promise<number> {
    const paths = parts.map((part) => this.#path(part));
    return this.#write(key, async (temporary) => {
      const target = createWriteStream(temporary, { flags: 'wx' });
      await pipeline(contentOf(paths, onBytes), target, { signal });
      return target.bytesWritten;
    });
  }

  async #write(key: string, fill: (temporary: string) => Promise<number>): Promise<number> {
    const path = this.#path(key);
    const temporary = `${path}.${randomToken(8)}.part`;
    await mkdir(dirname(path), { recursive: true });
    try {
      const size = await fill(temporary);
      await sync(temporary);
      await rename(temporary, path);
      await sync(dirname(path));
      return size;
    } catch (error) {
      await rm(temporary, { force: true });
      if (full.has(codeOf(error) ?? '')) throw new StorageFull('the disk is full', { cause: error });
      throw error;
    }
  }

  #path(key: string): string {
    if (!/^[A-Za-z0-9-]+(\/[A-Za-z0-9-]+)*$/.test(key)) throw new Error(`${key} is no storage key`);
    return join(this.#root, key);
  }
}

async function* contentOf(
  paths: readonly string[],
  onBytes?: (bytes: Buffer) => void,
): AsyncGenerator<Buffer> {
  for (const path of paths) {
    for await (const bytes of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
      onBytes?.(bytes as Buffer);
      yield bytes as Buffer;
    }
  }
}

const full = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

const codeOf = (error: unknown): string | undefined => (error as { code?: string } | undefined)?.code;

async function sync(path: string): Promise<void> {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
