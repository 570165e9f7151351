// Stores lines on the local disk until their destination is available, beyond the end of this process.
import { createReadStream } from 'node:fs';
import { appendFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { privateFolder } from './files/folder.js';

const blockLines = 500;
const ending = '.ndjson';

export class Spool {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #own = `${hostname()}-${process.pid}`;
  #bytes = 0;
  #taken = 0;

  /**
   * @param maxBytes limit of this process
   */
  constructor(folder: string, maxBytes: number) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  /**
   * Stores lines.
   *
   * @returns false when there is no room for them
   * @throws when the disk fails
   */
  async append(lines: readonly string[]): Promise<boolean> {
    const text = `${lines.join('\n')}\n`;
    const bytes = Buffer.byteLength(text);
    if (this.#bytes + bytes > this.#maxBytes) return false;
    await mkdir(this.#folder, { recursive: true, mode: privateFolder });
    await appendFile(join(this.#folder, this.#own + ending), text, { mode: 0o600 });
    this.#bytes += bytes;
    return true;
  }

  /**
   * Passes on every line stored by this process or by dead processes of this machine. Lines are repeated when
   * `take` fails.
   */
  async takeAll(take: (lines: string[]) => Promise<void>): Promise<void> {
    const own = join(this.#folder, this.#own + ending);
    // Process ids repeat, in containers at every start: never overwrite another process's file.
    const taken = join(this.#folder, `${this.#own}-${Date.now()}${++this.#taken}${ending}`);
    await rename(own, taken).catch(() => undefined);
    this.#bytes = 0;
    for (const name of await this.#readable()) {
      const file = join(this.#folder, name);
      try {
        await handOver(file, take);
      } catch (error) {
        this.#bytes += (await stat(file)).size;
        throw error;
      }
      await rm(file, { force: true });
    }
  }

  async #readable(): Promise<string[]> {
    const names = await readdir(this.#folder).catch(() => []);
    // The host name may contain numbers and dashes.
    const machine = `${hostname()}-`;
    return names.filter((name) => {
      const match = name.startsWith(machine) && /^(\d+)(-\d+)?\.ndjson$/.exec(name.slice(machine.length));
      if (!match) return false;
      const pid = Number(match[1]);
      return pid === process.pid ? match[2] !== undefined : !isAlive(pid);
    });
  }
}

async function handOver(file: string, take: (lines: string[]) => Promise<void>): Promise<void> {
  let lines: string[] = [];
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    // A dead process may have left an incomplete line.
    if (!line.endsWith('}')) continue;
    lines.push(line);
    if (lines.length < blockLines) continue;
    await take(lines);
    lines = [];
  }
  if (lines.length > 0) await take(lines);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
