// Writes a new file from pieces of any size in a few large blocks, accepting pieces during a write.
import { open, type FileHandle } from 'node:fs/promises';

export class FileWriter {
  /** Bytes accepted so far. */
  size = 0;
  readonly #file: FileHandle;
  readonly #blocks: readonly [Buffer, Buffer];
  #current: 0 | 1 = 0;
  #filled = 0;
  #written: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle, blockBytes: number) {
    this.#file = file;
    this.#blocks = [Buffer.allocUnsafeSlow(blockBytes), Buffer.allocUnsafeSlow(blockBytes)];
  }

  /**
   * A new file readable by this account only.
   *
   * @param blockBytes two blocks of this size are in memory: one is filled while the other is written
   */
  static async create(path: string, blockBytes: number): Promise<FileWriter> {
    return new FileWriter(await open(path, 'wx', 0o600), blockBytes);
  }

  /** Accepts bytes; the caller may reuse them afterwards. @throws the error of an earlier write */
  async write(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      const block = this.#blocks[this.#current];
      const copied = bytes.copy(block, this.#filled, at);
      at += copied;
      this.#filled += copied;
      if (this.#filled === block.length) await this.#handOver();
    }
    this.size += bytes.length;
  }

  /** Hands everything to the system; only `sync` makes it durable. */
  async end(): Promise<void> {
    if (this.#filled > 0) await this.#handOver();
    await this.#written;
  }

  async sync(): Promise<void> {
    await this.#file.sync();
  }

  /** Closes the file once no write is pending. */
  async close(): Promise<void> {
    await this.#written.catch(() => undefined);
    await this.#file.close();
  }

  async #handOver(): Promise<void> {
    await this.#written;
    this.#written = this.#writeAll(this.#blocks[this.#current].subarray(0, this.#filled));
    // Its failure is handled where it is awaited.
    this.#written.catch(() => undefined);
    this.#current = this.#current === 0 ? 1 : 0;
    this.#filled = 0;
  }

  async #writeAll(block: Buffer): Promise<void> {
    for (let done = 0; done < block.length;) done += (await this.#file.write(block, done)).bytesWritten;
  }
}
