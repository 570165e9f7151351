// back-office backup: files, then the database, then the files uploaded meanwhile, so that every row of the dump has its file.
import { createWriteStream, createReadStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import pLimit from 'p-limit';
import { config } from '../../../../config/index.js';
import { now } from '../../../lib/clock.js';
import { select } from '../../../lib/database/db.js';
import { areMariaDbs, ProgramFailed, startProgram } from '../../../lib/database/programs.js';
import { storage } from '../../../lib/storage/index.js';
import { FileMissing } from '../../../lib/storage/storage.js';
import { storedKeyDigest } from '../../../models/access/key-check.js';
import { keptKeys } from '../../../models/files/stored-file.js';
import { migrationState } from '../../../models/migrations/schema.js';
import { Misuse, type Given, type Outcome } from '../command.js';
import * as folders from './folder.js';
import type { KeptFile, Manifest } from './folder.js';

const copiesAtOnce = 4;
const dumpTries = 3;
const dumpName = 'database.sql.gz';

export async function makeBackup(given: Given): Promise<Outcome> {
  const to = given.args[0] ?? '';
  const keep = given.option('keep');
  if (keep !== undefined && !/^[1-9]\d{0,3}$/.test(keep)) throw new Misuse('--keep: a number from 1');
  const begun = now();
  const path = await folders.begin(to, begun);
  try {
    const files = given.flag('withoutFiles') ? undefined : new FileCopies(path, await knownFiles(to));
    await files?.copyNew();
    const binlog = await dump(path);
    await files?.copyNew();
    const { made, unknown } = await migrationState();
    const manifest: Manifest = {
      format: 1,
      version: config.version,
      commit: config.commit,
      begun_at: begun.toISOString(),
      ended_at: now().toISOString(),
      database: {
        name: config.database.name,
        migrations: [...made, ...unknown],
        dump: await folders.measure(path, dumpName),
        binlog,
      },
      key_digest: (await storedKeyDigest()) ?? null,
      files: files
        ? { count: files.all.length, bytes: files.bytes, list: await folders.writeList(path, files.all) }
        : null,
    };
    const whole = await folders.finish(path, manifest);
    const removed = keep === undefined ? 0 : await folders.keepNewest(to, Number(keep));
    const missing = files?.missing ?? [];
    return {
      data: { path: whole, manifest, missing, removed },
      text: [
        `${whole}: ${describe(manifest)}`,
        ...missing.map((key) => `a row names ${key}, and the storage has no such file`),
        ...(removed > 0 ? [`${removed} older removed`] : []),
      ].join('\n'),
      isBad: missing.length > 0,
    };
  } catch (error) {
    await rm(path, { recursive: true, force: true });
    throw error;
  }
}

function describe({ database: { dump: written, binlog }, files }: Manifest): string {
  const mebibytes = (bytes: number) => `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
  return [
    `database ${mebibytes(written.bytes)}`,
    files ? `${files.count} files, ${mebibytes(files.bytes)}` : 'without files',
    binlog
      ? `binary log at ${binlog.file}:${binlog.position}`
      : 'no binary log, so no point in time after it',
  ].join('; ');
}

/** The files of the newest backup, which need not be read again. */
async function knownFiles(to: string): Promise<Map<string, KeptFile>> {
  const [newest] = await folders.backupsIn(to);
  if (newest === undefined) return new Map();
  const list = await folders.readList(newest, await folders.readManifest(newest));
  return new Map(list.map((file) => [file.key, file]));
}

/** Copies of stored files. A file never changes under its key, so each is copied once, for all backups of a folder. */
class FileCopies {
  readonly #backup: string;
  readonly #known: Map<string, KeptFile>;
  readonly #copied = new Map<string, KeptFile>();
  readonly missing: string[] = [];

  constructor(backup: string, known: Map<string, KeptFile>) {
    this.#backup = backup;
    this.#known = known;
  }

  get all(): KeptFile[] {
    return [...this.#copied.values()];
  }

  get bytes(): number {
    return this.all.reduce((sum, { size }) => sum + size, 0);
  }

  /** Copies what rows name by now and no copy is there of. */
  async copyNew(): Promise<void> {
    const atOnce = pLimit(copiesAtOnce);
    for await (const keys of keptKeys()) {
      const fresh = keys.filter((key) => !this.#copied.has(key));
      await Promise.all(fresh.map((key) => atOnce(() => this.#copy(key))));
    }
  }

  async #copy(key: string): Promise<void> {
    const place = folders.poolPath(this.#backup, key);
    const found = await stat(place).catch(() => undefined);
    const known = this.#known.get(key);
    if (found && known?.size === found.size) this.#copied.set(key, known);
    else if (found) {
      const sha256 = await folders.digestOf(createReadStream(place));
      this.#copied.set(key, { key, size: found.size, sha256 });
    } else await this.#fetch(key);
  }

  async #fetch(key: string): Promise<void> {
    try {
      const content = await (await storage()).get(key);
      this.#copied.set(key, await folders.addToPool(this.#backup, key, content));
    } catch (error) {
      if (!(error instanceof FileMissing)) throw error;
      // Deleted between the list and the copy, unless its row says otherwise.
      const sql = "SELECT state FROM stored_files WHERE storage_key = ? AND state = 'kept'";
      if ((await select(sql, [key])).length > 0) this.missing.push(key);
    }
  }
}

/** One snapshot of the whole database; where the binary log stood at it, if there is one. */
async function dump(path: string): Promise<Manifest['database']['binlog']> {
  const [row] = await select<{ log_bin: number }>('SELECT @@log_bin AS log_bin');
  const position = (await areMariaDbs()) ? '--master-data=2' : '--source-data=2';
  let withPosition = row?.log_bin === 1;
  for (let attempt = 1; ; attempt++) {
    try {
      return await dumpOnce(path, withPosition ? [position] : []);
    } catch (error) {
      if (!(error instanceof ProgramFailed)) throw error;
      // An account without the right to read the position can still dump.
      if (withPosition && /denied|privilege/i.test(error.message)) withPosition = false;
      // A partition was added to a table that the snapshot had not read yet.
      else if (attempt === dumpTries || !/definition has changed/i.test(error.message)) throw error;
    }
  }
}

async function dumpOnce(path: string, more: readonly string[]): Promise<Manifest['database']['binlog']> {
  const program = await startProgram('dump', [
    '--single-transaction',
    '--quick',
    '--skip-lock-tables',
    '--hex-blob',
    '--no-tablespaces',
    '--default-character-set=utf8mb4',
    ...more,
    config.database.name,
  ]);
  program.stdin.end();
  let head = '';
  const keepHead = new Transform({
    transform(piece: Buffer, _, done) {
      if (head.length < 8192) head += piece.toString('latin1');
      done(null, piece);
    },
  });
  const file = createWriteStream(join(path, dumpName), { mode: 0o600, flush: true });
  await Promise.all([pipeline(program.stdout, keepHead, createGzip({ level: 6 }), file), program.ended]);
  const [, name, place] = /_LOG_FILE='([^']+)',\s*\w+_LOG_POS=(\d+)/.exec(head) ?? [];
  return name ? { file: name, position: Number(place) } : null;
}
