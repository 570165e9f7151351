// Runs a benchmark to its end, in bounded time, and removes everything it started and made.
import { setTimeout as sleep } from 'node:timers/promises';
import { stopProcesses } from './processes.js';
import { removeSites } from './site.js';

/** Exit code 0: everything was measured, whether or not the targets were reached; 1: something went wrong. */
export async function runBench(bench: () => Promise<void>, maxMinutes = 7): Promise<void> {
  const tooLong = sleep(maxMinutes * 60_000).then(() => {
    throw new Error(`the benchmark takes longer than ${maxMinutes} minutes`);
  });
  let code = 0;
  try {
    await Promise.race([bench(), tooLong]);
  } catch (error) {
    console.error(error);
    code = 1;
  }
  await stopProcesses();
  await removeSites();
  process.exit(code);
}

/** Lets each work take its turn in every round, beginning with another one each time. @returns what each came to */
export async function takeTurns<Name extends string, T>(
  rounds: number,
  works: Record<Name, () => Promise<T>>,
): Promise<Record<Name, T[]>> {
  const names = Object.keys(works) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<Name, T[]>;
  for (let round = 0; round < rounds; round++) {
    const order = [...names.slice(round % names.length), ...names.slice(0, round % names.length)];
    for (const name of order) results[name].push(await works[name]());
  }
  return results;
}

/** Repeats a step while a piece of work runs. @returns what the work came to */
export async function during<T>(work: Promise<T>, step: () => Promise<void>): Promise<T> {
  let isOver = false;
  const repeat = async (): Promise<void> => {
    while (!isOver) await step();
  };
  const [result] = await Promise.all([work.finally(() => (isOver = true)), repeat()]);
  return result;
}
