// The contract of a storage driver: files under keys, on a local disk or in an S3-compatible store.
import type { Readable } from 'node:stream';

/** Both ends included, from 0. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * A key is made by the service (models/files/stored-file.ts): letters, digits, `-` and `/`, never from a name that a user gave.
 * A key is written once. What is there is whole: a file that could not be written to its end does not appear.
 * Every method throws StorageUnavailable while the storage does not answer.
 */
export interface Storage {
  /**
   * Writes a stream under a new key; done when it is durable.
   *
   * @returns its size in bytes
   * @throws StorageFull when there is no room; whatever the stream fails with; nothing is left behind
   */
  put(key: string, content: Readable): Promise<number>;
  /** Begins with what `putFile` will have to wait for, while its key is not known yet. @throws StorageFull */
  prepare?(path: string): Promise<void>;
  /** Takes a file of the local disk over; it is gone from its place afterwards. @throws StorageFull */
  putFile(key: string, path: string): Promise<void>;
  /** @throws FileMissing */
  get(key: string, range?: ByteRange): Promise<Readable>;
  /** The size in bytes, or undefined when there is no such file. */
  stat(key: string): Promise<{ size: number } | undefined>;
  /** Removes a file; a missing one counts as removed. */
  remove(key: string): Promise<void>;
  /** The keys of all files below these folders. */
  keys(folders: readonly string[]): AsyncIterable<string>;
  /**
   * Writes the content of several files, one after the other, under a new key; the files themselves stay.
   *
   * @throws StorageFull, FileMissing when a part is gone
   */
  compose(key: string, parts: readonly StoredPart[], signal: AbortSignal): Promise<Composed>;
  /** An address that gives the file away for some minutes, when the driver is set up for it. */
  downloadUrl?(key: string, disposition: string, type: string): Promise<string>;
  /** Removes what writes below these folders that never ended left behind before that instant. */
  sweep?(before: Date, folders: readonly string[]): Promise<void>;
}

export interface StoredPart {
  key: string;
  /** Bytes. */
  size: number;
}

export interface Composed {
  /** Bytes. */
  size: number;
  /** SHA-256 of the whole in lower-case hex. */
  sha256: string;
}

/** There is no room for the file. */
export class StorageFull extends Error {}

/** The storage does not answer, or not in time; it may do so later. */
export class StorageUnavailable extends Error {}

/** There is no file under that key. */
export class FileMissing extends Error {}
