// The last enabled super administrator, whom nobody can remove.
import '../support/environment.js';
import test from 'ava';
import type { Answer, Client } from '../support/client.js';
import { makeAdmin, type MadeAdmin } from '../support/factories.js';
import { selectRow } from '../support/rows.js';
import { serviceTest } from '../support/service-test.js';

const service = serviceTest({ withWorker: false });

const outcome = ({ status, code, errorCode }: Answer) => [status, code, errorCode];

const signedIn = ({ username, password }: MadeAdmin): Promise<Client> =>
  service.anonymous.signIn(username, password);

test.serial('the last enabled super administrator cannot be removed', async (t) => {
  const { admin } = service;
  const { id: superRole } = await selectRow<{ id: number }>(
    "SELECT id FROM roles WHERE slug = 'super-admin'",
  );
  t.deepEqual(outcome(await admin.put('/admins/1', { role_ids: [] })), [400, 40001, 'last_super_admin']);
  const strip = (client: Client, id: number) => client.put(`/admins/${id}`, { role_ids: [] });
  const disable = (client: Client, id: number) => client.put(`/admins/${id}`, { status: 0 });
  const remove = (client: Client, id: number) => client.delete(`/admins/${id}`);
  for (const end of [strip, disable, remove, strip, disable, remove]) {
    const accounts = [await makeAdmin(admin, [superRole]), await makeAdmin(admin, [superRole])] as const;
    const clients = [await signedIn(accounts[0]), await signedIn(accounts[1])] as const;
    t.is((await clients[0].put('/admins/1', { role_ids: [] })).status, 200);
    const answers = await Promise.all([end(clients[0], accounts[1].id), end(clients[1], accounts[0].id)]);
    t.deepEqual(answers.map(({ status }) => status === 200).sort(), [false, true]);
    t.true(answers.every(({ status }) => status < 500));
    const survivor = answers[0]?.status === 200 ? 0 : 1;
    t.is((await clients[survivor].put('/admins/1', { role_ids: [superRole] })).status, 200);
    t.is((await admin.delete(`/admins/${accounts[survivor].id}`)).status, 200);
    await strip(admin, accounts[(1 - survivor) as 0 | 1].id);
  }
});
