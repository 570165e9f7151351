// How the commands in bin/ speak: one line per step with its time, and failures a reader can act on.
import { fileURLToPath } from 'node:url';

/** The checkout this file belongs to. */
export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

/** An expected failure: its message is the whole story, a stack trace would only hide it. */
export class Failure extends Error {}

/** Runs one step; `work` answers with the sentence that describes what was done. */
export async function step(work) {
  const startedAt = performance.now();
  const sentence = await work();
  say(`✓ ${sentence} (${seconds(performance.now() - startedAt)})`);
}

/** Announces something that takes long before it is done. */
export function note(sentence) {
  say(`… ${sentence}`);
}

export function say(line) {
  process.stdout.write(`${line}\n`);
}

/** Milliseconds as `1.23 s`. */
export function seconds(milliseconds) {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}

/** Prints an error to stderr: expected ones as a sentence, others with their stack. */
export function complain(error) {
  const text = error instanceof Failure ? error.message : (error?.stack ?? String(error));
  process.stderr.write(`✗ ${text}\n`);
}
