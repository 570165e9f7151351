// Runs a command of the operators: connects to the servers, prints the outcome, sets the exit code.
import { userInfo } from 'node:os';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { config } from '../../../config/index.js';
import { now } from '../../lib/values/clock.js';
import { closeDatabase } from '../../lib/database/db.js';
import { isUnreached } from '../../lib/database/errors.js';
import { AppError } from '../../lib/errors/app-error.js';
import { closePubsub } from '../../lib/redis/pubsub.js';
import { closeQueues } from '../../lib/queue/queue.js';
import { escaped } from '../../lib/input/printable.js';
import { newUlid } from '../../lib/secrets/random-id.js';
import { connectRedis, disconnectRedis, redis } from '../../lib/redis/redis.js';
import { StartRefused } from '../../lib/process/lifecycle.js';
import { closeLogs } from '../../jobs/write-logs.js';
import { writeEntries } from '../../models/logs/log-entries.js';
import { assertMigrated } from '../../models/migrations/schema.js';

/** What a command answers: lines for people, the same as data under --json. */
export interface Outcome {
  text: string;
  data: unknown;
  /** The command did what it should, and what it found is not well: exit code 1. */
  isBad?: boolean;
}

/** What a command was given. */
export interface Given {
  args: readonly string[];
  /** The value of an option; undefined when it was not given. */
  option: (name: string) => string | undefined;
  flag: (name: string) => boolean;
}

interface Needs {
  /** Runs on a database of any release; otherwise its schema must be that of this one. */
  anySchema?: boolean;
  /** Asks this before it is done, unless --yes was given. */
  asks?: (given: Given) => string;
  /** Whether it changes something and is recorded in the system log. */
  changes?: boolean;
}

export const exitCodes = { failed: 1, misused: 2 } as const;

/** The command was not called as it must be. */
export class Misuse extends Error {}

/** Gives a command its work. */
export function does(command: Command, work: (given: Given) => Promise<Outcome>, needs: Needs = {}): void {
  command.action(async function (this: Command) {
    const options = this.optsWithGlobals<Record<string, string | boolean | undefined>>();
    const given: Given = {
      args: this.args,
      option: (name) => (typeof options[name] === 'string' ? options[name] : undefined),
      flag: (name) => options[name] === true,
    };
    try {
      if (needs.asks && !given.flag('yes')) await confirm(needs.asks(given));
      await connectRedis();
      if (!needs.anySchema) await assertMigrated();
      // Before the work, which may fail or be killed; after it where the work replaces the database.
      if (needs.changes && !needs.anySchema) await logUse(titleOf(this));
      const outcome = await work(given);
      if (needs.changes && needs.anySchema) await logUse(titleOf(this));
      const text = given.flag('json') ? JSON.stringify(outcome.data, undefined, 2) : outcome.text;
      print(process.stdout, text);
      if (outcome.isBad) process.exitCode = exitCodes.failed;
    } catch (error) {
      print(process.stderr, sentenceOf(error));
      process.exitCode = error instanceof Misuse ? exitCodes.misused : exitCodes.failed;
    } finally {
      await Promise.allSettled([closeLogs(), closeQueues()]);
      closePubsub();
      await closeDatabase();
      disconnectRedis();
    }
  });
}

let redisSays = 'it does not answer';
redis.once('error', ({ message }: Error) => (redisSays = message));

/** @throws Error when Redis does not answer or refuses */
export function assertRedis(): void {
  if (redis.status !== 'ready') throw new Error(`this needs Redis (REDIS_URL): ${redisSays}`);
}

// A reader may stop early, as `| head` does; an answer that cannot be written for another reason is a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  print(process.stderr, sentenceOf(error));
  process.exitCode = exitCodes.failed;
});
process.stderr.on('error', () => undefined);

// Texts of the database may carry escape sequences of terminals.
function print(stream: NodeJS.WriteStream, text: string): void {
  stream.write(`${text.split('\n').map(escaped).join('\n')}\n`);
}

/** Rows as a table for people. */
export function table(rows: readonly object[], nothing: string): string {
  const [first] = rows;
  if (!first) return nothing;
  const names = Object.keys(first);
  const cells = rows.map((row) => Object.values(row).map(cell));
  const widths = names.map((name, at) =>
    Math.max(name.length, ...cells.map((row) => (row[at] ?? '').length)),
  );
  const line = (row: readonly string[]) => row.map((text, at) => text.padEnd(widths[at] ?? 0)).join('  ');
  return [names, ...cells].map((row) => line(row).trimEnd()).join('\n');
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString();
  return escaped(typeof value === 'string' ? value : JSON.stringify(value));
}

async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY) throw new Misuse(`${question} Give --yes to have it done.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${question} [y/N] `).finally(() => terminal.close());
  if (!/^y(es)?$/i.test(answer.trim())) throw new Misuse('Nothing was done.');
}

/** The command line may do anything, so its use is logged. */
function logUse(title: string): Promise<void> {
  const entry = {
    log_key: newUlid(),
    level: 'warning',
    module: 'cli',
    message: `command line: ${title}`,
    context: JSON.stringify({ account: userInfo().username }),
    trace_id: '',
    created_at: now().toISOString(),
  } as const;
  return writeEntries([{ kind: 'system', entry }]);
}

// The command and its arguments, without options: those may hold secrets.
function titleOf(command: Command): string {
  const names: string[] = [];
  for (let one: Command | null = command; one?.parent; one = one.parent) names.unshift(one.name());
  return [...names, ...command.args].join(' ').slice(0, 900);
}

// The driver says "connect ETIMEDOUT", without saying where to.
function lostServer(error: Error): string {
  const { host, port } = config.database;
  return isUnreached(error) ? `no connection to the database at ${host}:${port}: ` : '';
}

/** One sentence of what went wrong, with its causes. */
export function sentenceOf(error: unknown): string {
  if (error instanceof AppError) return error.text('en-US');
  if (!(error instanceof Error)) return String(error);
  if (error instanceof StartRefused || error instanceof Misuse) return error.message;
  const said = `${lostServer(error)}${error.message || error.name}`;
  // A failed statement says what its cause says.
  const cause =
    error.cause instanceof Error && !said.endsWith(error.cause.message) ? `: ${error.cause.message}` : '';
  return `${said}${cause}`;
}
