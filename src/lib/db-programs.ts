// The database's own programs, for what is no statement: a dump, its way back, and the replay of binary logs.
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { rootCertificates } from 'node:tls';
import { config } from '../../config/index.js';

/** Each with its name at MariaDB, then the one at MySQL. */
const programs = {
  dump: ['mariadb-dump', 'mysqldump'],
  client: ['mariadb', 'mysql'],
  binlog: ['mariadb-binlog', 'mysqlbinlog'],
} as const;

export type Program = keyof typeof programs;

export interface RunningProgram {
  stdin: Writable;
  stdout: Readable;
  /** Resolves when it has ended well. @throws ProgramFailed */
  ended: Promise<void>;
}

/** What a program wrote on its way out; its first line says what was wrong. */
export class ProgramFailed extends Error {}

/**
 * Starts one of them, with the address and account of the service where it has a use for them.
 *
 * @throws Error when neither name is installed
 */
export async function startProgram(program: Program, args: readonly string[]): Promise<RunningProgram> {
  const folder = await mkdtemp(join(tmpdir(), 'back-office-'));
  const forget = () => rm(folder, { recursive: true, force: true });
  try {
    const options = program === 'binlog' ? ['--no-defaults'] : [await accountIn(folder)];
    const child = await spawnFirst(programs[program], [...options, ...args]);
    const ended = endOf(child).finally(forget);
    // It may end before anybody waits for that.
    ended.catch(() => undefined);
    return { stdin: child.stdin, stdout: child.output, ended };
  } catch (error) {
    await forget();
    throw error;
  }
}

/** Whether the programs found are MariaDB's. */
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
  for (const name of names) {
    // Times that binary logs are asked for are UTC, as all times here.
    const child = spawn(name, args, { env: { ...process.env, TZ: 'UTC' }, stdio: ['pipe', 'pipe', 'pipe'] });
    // One that ends early closes its input; its exit code says why.
    child.stdin.on('error', () => undefined);
    // Node.js throws away what nobody has begun to read when a process ends.
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

// In a file, because a list of processes shows arguments.
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
