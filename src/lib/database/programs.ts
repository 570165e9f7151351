// The database's own command-line programs: dump, client and binary log reader.
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { rootCertificates } from 'node:tls';
import { config } from '../../../config/index.js';

/** Names at MariaDB, then at MySQL. */
const programs = {
  dump: ['mariadb-dump', 'mysqldump'],
  client: ['mariadb', 'mysql'],
  binlog: ['mariadb-binlog', 'mysqlbinlog'],
} as const;

export type Program = keyof typeof programs;

export interface RunningProgram {
  stdin: Writable;
  stdout: Readable;
  /** Resolves when it exits with 0. @throws ProgramFailed */
  ended: Promise<void>;
}

/** The first line of a failed program's stderr. */
export class ProgramFailed extends Error {}

/** Starts a program with the database address and account. @throws Error when neither name is installed */
export async function startProgram(program: Program, args: readonly string[]): Promise<RunningProgram> {
  const folder = await mkdtemp(join(tmpdir(), 'back-office-'));
  const forget = () => rm(folder, { recursive: true, force: true });
  try {
    const options = program === 'binlog' ? ['--no-defaults'] : [await accountIn(folder)];
    const child = await spawnFirst(programs[program], [...options, ...args]);
    const ended = endOf(child).finally(forget);
    // It may end before its result is awaited.
    ended.catch(() => undefined);
    return { stdin: child.stdin, stdout: child.output, ended };
  } catch (error) {
    await forget();
    throw error;
  }
}

/** Whether the installed programs are MariaDB's. */
export async function areMariaDbs(): Promise<boolean> {
  const { stdin, stdout, ended } = await startProgram('dump', ['--version']);
  stdin.end();
  let text = '';
  for await (const piece of stdout) text += String(piece);
  await ended;
  return text.includes('MariaDB');
}

type Child = ChildProcessByStdio<Writable, Readable, Readable> & { output: Readable };

async function spawnFirst(names: readonly string[], args: readonly string[]): Promise<Child> {
  const { PATH, HOME } = config.programs;
  for (const name of names) {
    // Binary log times are given in UTC.
    const env = { PATH, HOME, TZ: 'UTC' };
    const child = spawn(name, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    // A program that exits early closes its input; its exit code is reported.
    child.stdin.on('error', () => undefined);
    // Node.js discards unread output when a process exits.
    const output = child.stdout.pipe(new PassThrough());
    const isThere = await Promise.race([
      once(child, 'spawn').then(() => true),
      once(child, 'error').then(() => false),
    ]).catch(() => false);
    if (isThere) return Object.assign(child, { output });
  }
  throw new Error(`${names.join(' or ')} is not installed (Debian: mariadb-client)`);
}

async function endOf(child: Child): Promise<void> {
  let said = '';
  child.stderr.on('data', (piece: Buffer) => (said = `${said}${piece.toString()}`.slice(0, 4000)));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (code === 0) return;
  const lines = said.split('\n').filter((line) => line.trim() !== '' && !/Deprecated|Warning/i.test(line));
  throw new ProgramFailed(lines[0] ?? `${child.spawnfile} ended with ${code ?? signal}`);
}

// In a file, because process lists show arguments.
async function accountIn(folder: string): Promise<string> {
  const { host, port, user, password, tls } = config.database;
  const quoted = (text: string) => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
  const lines = ['[client]', `host=${quoted(host)}`, `port=${port}`, 'protocol=tcp'];
  lines.push(`user=${quoted(user)}`, `password=${quoted(password)}`);
  if (tls) {
    const authorities = join(folder, 'authorities.pem');
    await writeFile(authorities, 'ca' in tls ? String(tls.ca) : rootCertificates.join('\n'));
    lines.push(`ssl-ca=${authorities}`, 'loose-ssl-verify-server-cert', 'loose-ssl-mode=VERIFY_IDENTITY');
  }
  const file = join(folder, 'account.cnf');
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  return `--defaults-file=${file}`;
}
