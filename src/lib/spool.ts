// Stores lines on the local disk until their destination is available, beyond the end of this process.
import { appendFile, mkdir, open, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import pLimit from 'p-limit';
import { privateFolder } from './files/folder.js';

const blockLines = 500;
const ending = '.ndjson';

export class Spool {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #name = `${hostname()}-${process.pid}`;
  readonly #own: string;
  // A file that is set aside must not be written to any more.
  readonly #turns = pLimit(1);
  /** What waits in the files of this process. */
  #bytes = 0;
  #isEmpty = true;
  /** The last line may be incomplete; also one of an earlier process of this name. */
  #isTorn = true;
  #setAside = 0;
  #taking: Promise<void> | undefined;

  /**
   * @param maxBytes limit of this process
   */
  constructor(folder: string, maxBytes: number) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
    this.#own = join(folder, this.#name + ending);
  }

  /** Whether nothing is known to wait. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /**
   * Stores lines.
   *
   * @returns false when there is no room for them
   * @throws when the disk fails
   */
  append(lines: readonly string[]): Promise<boolean> {
    return this.#turns(async () => {
      const text = `${this.#isTorn ? '\n' : ''}${lines.join('\n')}\n`;
      const bytes = Buffer.byteLength(text);
      if (this.#bytes + bytes > this.#maxBytes) return false;
      this.#isEmpty = false;
      await mkdir(this.#folder, { recursive: true, mode: privateFolder });
      this.#isTorn = true;
      await appendFile(this.#own, text, { mode: 0o600 });
      this.#isTorn = false;
      this.#bytes += bytes;
      return true;
    });
  }

  /**
   * Passes on every line stored by this process or by dead processes of this machine; a caller that comes meanwhile joins. Lines
   * may be incomplete, and are repeated when `take` fails.
   */
  takeAll(take: (lines: string[]) => Promise<void>): Promise<void> {
    this.#taking ??= this.#takeAll(take).finally(() => (this.#taking = undefined));
    return this.#taking;
  }

  async #takeAll(take: (lines: string[]) => Promise<void>): Promise<void> {
    this.#isEmpty = true;
    try {
      // The own file last: while others cannot be passed on, it is not cut into ever more of them.
      for (const file of await this.#readable()) await this.#handOver(file, take);
      const own = await this.#setOwnAside();
      if (own !== undefined) await this.#handOver(own, take);
    } catch (error) {
      this.#isEmpty = false;
      throw error;
    }
  }

  async #handOver(file: string, take: (lines: string[]) => Promise<void>): Promise<void> {
    const handle = await unlessMissing(open(file));
    if (!handle) return;
    try {
      const { size } = await handle.stat();
      await passOn(handle, take);
      await rm(file, { force: true });
      if (this.#isMine(basename(file))) this.#bytes = Math.max(0, this.#bytes - size);
    } finally {
      await handle.close();
    }
  }

  #setOwnAside(): Promise<string | undefined> {
    return this.#turns(async () => {
      // Process ids repeat, in containers at every start: never overwrite another process's file.
      const aside = join(this.#folder, `${this.#name}-${Date.now()}${++this.#setAside}${ending}`);
      if ((await unlessMissing(rename(this.#own, aside).then(() => true))) === undefined) return undefined;
      this.#isTorn = false;
      return aside;
    });
  }

  async #readable(): Promise<string[]> {
    const names = (await unlessMissing(readdir(this.#folder))) ?? [];
    return names.filter((name) => this.#mayRead(name)).map((name) => join(this.#folder, name));
  }

  // The host name may contain numbers and dashes.
  #mayRead(name: string): boolean {
    if (this.#isMine(name)) return true;
    const pid = name.startsWith(machine) && /^(\d+)(-\d+)?\.ndjson$/.exec(name.slice(machine.length))?.[1];
    return Boolean(pid) && Number(pid) !== process.pid && !isAlive(Number(pid));
  }

  /** Whether it is one that this process, or an earlier one of its name, set aside. */
  #isMine(name: string): boolean {
    return name.startsWith(`${this.#name}-`) && name.endsWith(ending);
  }
}

const machine = `${hostname()}-`;

async function passOn(handle: FileHandle, take: (lines: string[]) => Promise<void>): Promise<void> {
  let lines: string[] = [];
  for await (const line of handle.readLines({ autoClose: false })) {
    if (line === '') continue;
    lines.push(line);
    if (lines.length < blockLines) continue;
    await take(lines);
    lines = [];
  }
  if (lines.length > 0) await take(lines);
}

// Another process of this machine may have passed it on.
async function unlessMissing<T>(done: Promise<T>): Promise<T | undefined> {
  try {
    return await done;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
