// The layout of backups: <folder>/<time>/ with a manifest, the dump and the list of files; <folder>/files holds each file once.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import Joi from 'joi';
import { privateFolder } from '../../../lib/files/folder.js';

/** A file as a backup knows it. */
export interface KeptFile {
  key: string;
  /** Bytes. */
  size: number;
  sha256: string;
}

/** A file of the backup itself. */
export interface Part {
  name: string;
  bytes: number;
  sha256: string;
}

export interface Manifest {
  format: 1;
  version: string;
  commit: string;
  begun_at: string;
  ended_at: string;
  database: {
    name: string;
    migrations: string[];
    dump: Part;
    /** Where the binary log stood at the dump; null without one. */
    binlog: { file: string; position: number } | null;
  };
  /** Digest of the APP_KEY of this data; null when the database knew none. */
  key_digest: string | null;
  /** Null when files were left out. */
  files: { count: number; bytes: number; list: Part } | null;
}

const part = Joi.object<Part, true>({
  name: Joi.string()
    .pattern(/^[a-z.]+$/)
    .required(),
  bytes: Joi.number().required(),
  sha256: Joi.string().hex().length(64).required(),
}).required();

const manifestSchema = Joi.object<Manifest, true>({
  format: Joi.number().valid(1).required(),
  version: Joi.string().required(),
  commit: Joi.string().allow('').required(),
  begun_at: Joi.string().isoDate().required(),
  ended_at: Joi.string().isoDate().required(),
  database: Joi.object({
    name: Joi.string().required(),
    migrations: Joi.array().items(Joi.string()).required(),
    dump: part,
    binlog: Joi.object({
      file: Joi.string()
        .pattern(/^[\w.-]+$/)
        .required(),
      position: Joi.number().integer().min(4).required(),
    })
      .allow(null)
      .required(),
  }).required(),
  key_digest: Joi.string().hex().length(64).allow(null).required(),
  files: Joi.object({
    count: Joi.number().required(),
    bytes: Joi.number().required(),
    list: part,
  })
    .allow(null)
    .required(),
});

const fileSchema = Joi.object<KeptFile, true>({
  key: Joi.string()
    .pattern(/^[A-Za-z0-9-]+(\/[A-Za-z0-9-]+)*$/)
    .required(),
  size: Joi.number().integer().required(),
  sha256: Joi.string().hex().length(64).required(),
});

const unfinished = '.unfinished';

/** Where a stored file lies, for the backup at that path. */
export const poolPath = (backup: string, key: string): string => join(dirname(resolve(backup)), 'files', key);

/** Begins a backup; nothing takes it for one before `finish`. @returns its path */
export async function begin(folder: string, at: Date): Promise<string> {
  const path = join(resolve(folder), `${at.toISOString().slice(0, 19).replaceAll(':', '-')}Z${unfinished}`);
  await mkdir(path, { recursive: true, mode: privateFolder });
  return path;
}

/** @returns the path of the backup that is whole now */
export async function finish(path: string, manifest: Manifest): Promise<string> {
  const file = await open(join(path, 'manifest.json'), 'wx', 0o600);
  await file.writeFile(`${JSON.stringify(manifest, undefined, 2)}\n`);
  await file.sync();
  await file.close();
  const whole = path.slice(0, -unfinished.length);
  await rename(path, whole);
  return whole;
}

/** The backups of a folder, the newest first. */
export async function backupsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  const stamps = names.filter((name) => /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/.test(name)).sort();
  return stamps.reverse().map((name) => join(resolve(folder), name));
}

/** @throws Error when there is no backup, or one that this release cannot read */
export async function readManifest(path: string): Promise<Manifest> {
  const text = await readFile(join(path, 'manifest.json'), 'utf8').catch(() => {
    throw new Error(`${path} is no backup: it has no manifest.json`);
  });
  const result = manifestSchema.validate(JSON.parse(text), { convert: false });
  const { error } = result;
  if (error) throw new Error(`${path}/manifest.json is none this release reads: ${error.message}`);
  return result.value;
}

export async function writeList(path: string, files: readonly KeptFile[]): Promise<Part> {
  const lines = files.map((file) => `${JSON.stringify(file)}\n`);
  await writeFile(join(path, 'files.jsonl'), lines, { mode: 0o600 });
  return measure(path, 'files.jsonl');
}

/** The files of a backup. */
export async function readList(path: string, { files }: Manifest): Promise<KeptFile[]> {
  if (files === null) return [];
  const text = await readFile(join(path, files.list.name), 'utf8');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => Joi.attempt(JSON.parse(line), fileSchema));
}

/** Size and digest of a file of the backup. */
export async function measure(path: string, name: string): Promise<Part> {
  const file = join(path, name);
  return { name, bytes: (await stat(file)).size, sha256: await digestOf(createReadStream(file)) };
}

export async function digestOf(content: Readable): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of content) hash.update(piece as Buffer);
  return hash.digest('hex');
}

/** Writes a stored file into the pool, whole or not at all. */
export async function addToPool(backup: string, key: string, content: Readable): Promise<KeptFile> {
  const place = poolPath(backup, key);
  await mkdir(dirname(place), { recursive: true, mode: privateFolder });
  const partial = join(dirname(place), `.${basename(place)}.partial`);
  const hash = createHash('sha256');
  let size = 0;
  const file = await open(partial, 'w', 0o600);
  try {
    for await (const piece of content as AsyncIterable<Buffer>) {
      hash.update(piece);
      size += piece.length;
      await file.writeFile(piece);
    }
    await file.sync();
    await rename(partial, place);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  return { key, size, sha256: hash.digest('hex') };
}

/** What is wrong with a backup, one sentence each: parts or files that are missing or not as they were written. */
export async function faultsIn(path: string, manifest: Manifest): Promise<string[]> {
  const { database, files } = manifest;
  const faults: string[] = [];
  for (const written of [database.dump, ...(files ? [files.list] : [])]) {
    const found = await measure(path, written.name).catch(() => undefined);
    if (!found) faults.push(`${written.name} is missing`);
    else if (found.sha256 !== written.sha256) faults.push(`${written.name} is not what was written`);
  }
  if (faults.length > 0) return faults;
  for (const { key, sha256 } of await readList(path, manifest)) {
    const digest = await digestOf(createReadStream(poolPath(path, key))).catch(() => undefined);
    if (digest === undefined) faults.push(`files/${key} is missing`);
    else if (digest !== sha256) faults.push(`files/${key} is not what was written`);
  }
  return faults;
}

/** Removes all but the newest backups, and the files that only they named. @returns how many backups went */
export async function keepNewest(folder: string, count: number): Promise<number> {
  const [kept, old] = [
    (await backupsIn(folder)).slice(0, count),
    (await backupsIn(folder)).slice(count),
  ] as const;
  const needed = new Set<string>();
  for (const path of kept)
    for (const { key } of await readList(path, await readManifest(path))) needed.add(key);
  for (const path of old) {
    const listed = await readList(path, await readManifest(path));
    await rm(path, { recursive: true });
    for (const { key } of listed) if (!needed.has(key)) await rm(poolPath(path, key), { force: true });
  }
  return old.length;
}
