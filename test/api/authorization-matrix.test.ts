// Every route against every kind of caller, from the list of routes: who must not pass is refused, who may is not.
import '../support/environment.js';
import test from 'ava';
import { permissionOf, type Route } from '../../src/api/route.js';
import { routes } from '../../src/api/routes.js';
import { select } from '../../src/lib/db.js';
import { makeAdmin, makeRole } from '../support/factories.js';
import { killProcesses, startApi } from '../support/processes.js';
import { startService, type Service } from '../support/service.js';
import type { Answer, Client } from '../support/client.js';

let service: Service;
let admin: Client;
/** A caller whose only role the tests change, on two processes in turn. */
let caller: Client[];
let roleId: number;
const permissionIds = new Map<string, number>();

const guarded = routes.filter(permissionOf);
const slugOf = (route: Route): string => permissionOf(route)?.slug ?? '';

test.before(async () => {
  service = await startService({ withWorker: false });
  admin = service.admin;
  for (const { id, slug } of await select<any>('SELECT id, slug FROM permissions'))
    permissionIds.set(slug, id);
  roleId = (await makeRole(admin)).id;
  const account = await makeAdmin(admin, [roleId]);
  const own = await service.anonymous.signIn(account.username, account.password);
  caller = [own, own.at((await startApi()).url)];
});

test.after.always(async () => {
  await killProcesses();
  await service.stop();
});

const name = ({ method, path }: Route): string => `${method} ${path}`;

// Nobody has these keys, so that a call that is let through changes nothing.
function call(client: Client, route: Route): Promise<Answer> {
  const path = (route.host ? '/' : '') + route.path.replace(/\{\w+\}/g, '999999999');
  return client.request(route.method, path, route.method === 'GET' ? {} : { body: {} });
}

const isRefused = ({ status }: Answer): boolean => status === 401 || status === 403;

async function grant(slugs: string[]): Promise<void> {
  const permission_ids = slugs.map((slug) => permissionIds.get(slug));
  const { status, text } = await admin.put(`/roles/${roleId}`, { permission_ids });
  if (status !== 200) throw new Error(text);
}

test('the list of routes is whole: every permission has a row, and most routes need one', (t) => {
  t.true(guarded.length >= 35, `${guarded.length} of ${routes.length} routes need a permission`);
  for (const route of guarded) t.true(permissionIds.has(slugOf(route)), name(route));
});

test.serial('an anonymous caller passes public routes only', async (t) => {
  for (const route of routes) {
    const answer = await call(service.anonymous, route);
    if (route.access === 'public') t.false(isRefused(answer), name(route));
    else t.deepEqual([answer.status, answer.code], [401, 401], name(route));
  }
});

test.serial('a forged token passes public routes only', async (t) => {
  const forged = service.anonymous.with({ Authorization: 'Bearer forged' });
  for (const route of routes) {
    const answer = await call(forged, route);
    if (route.access === 'public') t.false(isRefused(answer), name(route));
    else t.deepEqual([answer.status, answer.code], [401, 10007], name(route));
  }
});

test.serial('a signed-in caller without rights passes what needs none', async (t) => {
  await grant([]);
  const account = await makeAdmin(admin);
  for (const route of routes) {
    // Signing out ends the session, so each call has one of its own.
    const own = await service.anonymous.signIn(account.username, account.password);
    const answer = await call(own, route);
    if (permissionOf(route)) t.deepEqual([answer.status, answer.code], [403, 20001], name(route));
    else t.false(isRefused(answer), name(route));
  }
});

test.serial('the right permission alone opens a route, on the next request of every process', async (t) => {
  for (const route of guarded) {
    await grant([slugOf(route)]);
    for (const client of caller) t.false(isRefused(await call(client, route)), name(route));
  }
});

test.serial('every other permission together opens no route', async (t) => {
  const all = [...new Set(guarded.map(slugOf))];
  for (const route of guarded) {
    await grant(all.filter((slug) => slug !== slugOf(route)));
    for (const client of caller) {
      const answer = await call(client, route);
      t.deepEqual([answer.status, answer.code], [403, 20001], name(route));
    }
  }
});

test.serial('a super administrator passes every route', async (t) => {
  for (const route of routes) {
    const own = await service.anonymous.signIn();
    t.false(isRefused(await call(own, route)), name(route));
  }
});
