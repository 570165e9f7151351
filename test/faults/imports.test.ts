// An import whose worker is killed or told to stop, and whose Redis is emptied: each good row once, none lost (R9).
import '../support/environment.js';
import test from 'ava';
import { makeUser } from '../support/factories.js';
import {
  beyond,
  concluded,
  expected,
  outcomeOf,
  sheet,
  startImport,
  startImporter,
  stateOf,
} from '../support/imports.js';
import { killProcesses } from '../support/processes.js';
import { emptyRedis } from '../support/redis.js';
import { startService, type Service } from '../support/service.js';

let service: Service;

test.before(async () => {
  service = await startService({ withWorker: false });
});

test.after.always(async () => {
  await killProcesses();
  await service.stop();
});

const newUser = async (): Promise<number> => (await makeUser(service.admin)).id;

test.serial('killed twice, once with its Redis emptied, an import imports every good row once', async (t) => {
  const [user, orders] = [await newUser(), 20_000];
  const file = sheet(user, orders);
  const id = await startImport(service.admin, file.content);
  let position = 0;
  for (let death = 0; death < 2; death++) {
    const worker = await startImporter();
    await beyond(id, position);
    await worker.kill();
    ({ position } = await stateOf(id));
    t.true(position < file.rows, 'it was killed in the middle');
    // Without this the job is found when its lock has expired; with it only the sweeper can find the row.
    if (death % 2 === 0) await emptyRedis();
  }
  const last = await startImporter();
  await concluded(id);
  t.deepEqual(await outcomeOf(id, user), expected(file, orders));
  await last.stop();
});

test.serial('a worker told to stop leaves the rest of an import to the next one', async (t) => {
  const [user, orders] = [await newUser(), 30_000];
  const file = sheet(user, orders);
  const id = await startImport(service.admin, file.content);
  const worker = await startImporter({ SHUTDOWN_SECONDS: '1' });
  await beyond(id, 0);
  const begun = Date.now();
  await worker.stop();
  t.true(Date.now() - begun < 10_000);
  const next = await startImporter();
  await concluded(id);
  t.deepEqual(await outcomeOf(id, user), expected(file, orders));
  await next.stop();
});
