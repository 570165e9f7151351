// Plays random sequences of commands and compares every answer and every row with the model.
import type { ExecutionContext, TestFn } from 'ava';
import fc from 'fast-check';
import { select } from '../../../src/lib/database/db.js';
import { stateChanges, watchStates } from './changes.js';
import { makeUser } from '../factories.js';
import { anyStep, commandNames, perform } from './payment-commands.js';
import { Model } from './payment-model.js';
import { inOwnProcesses, type SystemUnderTest } from './system-under-test.js';
import { until } from '../until.js';

interface Proof {
  runs: number;
  steps: { minLength: number; maxLength: number };
  /** One in that many commands restarts a process. */
  restartOneIn: number;
}

/** @returns how often each command was done */
export async function proveModel(
  t: ExecutionContext,
  system: SystemUnderTest,
  { runs, steps, restartOneIn }: Proof,
): Promise<Map<string, number>> {
  const done = new Map<string, number>();
  let ended = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep(restartOneIn), steps), async (sequence) => {
      const [newest] = await select<{ id: number }>('SELECT COALESCE(MAX(id), 0) AS id FROM notifications');
      const model = new Model((await makeUser(system.admin)).id, Number(newest?.id));
      for (const step of sequence) {
        const [real, wanted] = await perform(model, step, system);
        t.deepEqual(real, wanted, `${step[0]} in ${JSON.stringify(sequence)}`);
        t.deepEqual(
          await model.stored(),
          model.expected(),
          `after ${step[0]} in ${JSON.stringify(sequence)}`,
        );
        done.set(step[0], (done.get(step[0]) ?? 0) + 1);
      }
      ended++;
    }),
    // An error of a step is reported with the sequence that led to it.
    { numRuns: runs, endOnFailure: true, includeErrorInReport: true },
  );
  t.is(ended, runs);
  const moves = new Set(
    (await stateChanges()).map(({ number, before, after }) => `${number.slice(0, 3)} ${before} → ${after}`),
  );
  // Where money was reported an instant before the order was cancelled, it wins.
  moves.delete('ORD cancelled → paid');
  const forward = [
    'ORD pending → cancelled',
    'ORD pending → paid',
    'PAY cancelled → paid',
    'PAY pending → cancelled',
    'PAY pending → paid',
  ];
  t.deepEqual([...moves].sort(), forward);
  const unsettled = `SELECT id FROM payment_callbacks WHERE state = 'pending'`;
  await t.notThrowsAsync(until(async () => (await select(unsettled)).length === 0));
  return done;
}

/** A thousand runs against processes that are killed and started again; every command must have had its turn. */
export function provesModelAtLength(test: TestFn): void {
  let system: SystemUnderTest;

  test.before(async () => {
    system = await inOwnProcesses();
    await watchStates();
  });

  test.after.always(() => system.stop());

  test('a thousand sequences of commands agree with the model', async (t) => {
    const steps = { minLength: 6, maxLength: 26 };
    const done = await proveModel(t, system, { runs: 1000, steps, restartOneIn: 300 });
    t.log(Object.fromEntries([...done].sort()));
    t.deepEqual([...done.keys()].sort(), [...commandNames].sort());
  });
}
