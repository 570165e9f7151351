// Random sequences of everything that can happen to orders and payments, compared with a small model. test/long/ runs many more.
import '../support/environment.js';
import test from 'ava';
import { watchStates } from '../support/changes.js';
import { proveModel } from '../support/model-proof.js';
import { inThisThread, type SystemUnderTest } from '../support/system-under-test.js';

let system: SystemUnderTest;

test.before(async () => {
  system = await inThisThread();
  await watchStates();
});

test.after.always(() => system.stop());

test('any sequence of commands leaves the rows and answers of the model', async (t) => {
  const done = await proveModel(t, system, {
    runs: 20,
    steps: { minLength: 10, maxLength: 40 },
    restartOneIn: 40,
  });
  t.log(Object.fromEntries([...done].sort()));
});
