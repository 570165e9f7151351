// Output of the commands in bin/: one line per step with its time, and actionable failures.
import { fileURLToPath } from 'node:url';

/** The checkout this file belongs to. */
export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

/** An expected failure: its message is the whole story, a stack trace would only hide it. */
export class Failure extends Error {}

/**
 * Runs one step and prints the sentence it returns, with its time.
 *
 * @param {() => string | Promise<string>} work
 */
export async function step(work) {
  const startedAt = performance.now();
  const sentence = await work();
  say(`✓ ${sentence} (${seconds(performance.now() - startedAt)})`);
}

/** Announces something that takes long before it is done. @param {string} sentence */
export function note(sentence) {
  say(`… ${sentence}`);
}

/** @param {string} line */
export function say(line) {
  process.stdout.write(`${line}\n`);
}

/** Milliseconds as `1.23 s`. @param {number} milliseconds */
export function seconds(milliseconds) {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}

/** The message of whatever was thrown. @param {unknown} error */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/** Prints an error to stderr: expected ones as a sentence, others with their stack. @param {unknown} error */
export function complain(error) {
  const isUnexpected = error instanceof Error && !(error instanceof Failure);
  process.stderr.write(`✗ ${(isUnexpected && error.stack) || messageOf(error)}\n`);
}
