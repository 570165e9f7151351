// Every declared route with every kind of caller: exactly the permitted ones get through.
import '../support/settings/shared-environment.js';
import test from 'ava';
import pLimit from 'p-limit';
import { permissionOf, type Route } from '../../src/api/declare/route.js';
import { routes } from '../../src/api/routes.js';
import { select } from '../../src/lib/database/db.js';
import { makeAdmin, makeRole, type MadeAdmin } from '../support/factories.js';
import { service } from '../support/shared-service.js';
import type { Answer, Client } from '../support/client.js';

const { admin } = service;
const guarded = routes.filter(permissionOf);
const slugOf = (route: Route): string => permissionOf(route)?.slug ?? '';
const signIn = (account: MadeAdmin): Promise<Client> => service.anonymous.signIn(account);

const rows = await select<{ id: number; slug: string }>(
  'SELECT id, slug FROM permissions WHERE slug IN (?)',
  [guarded.map(slugOf)],
);
/** Of the service's own permissions; those of other tests open routes by their paths. */
const permissionIds = new Map(rows.map(({ id, slug }) => [slug, id]));

/** Callers whose only role the tests change. */
const callers = await Promise.all(
  Array.from({ length: 3 }, async () => {
    const roleId = (await makeRole(admin)).id;
    return { roleId, client: await signIn(await makeAdmin(admin, [roleId])) };
  }),
);

const name = ({ method, path }: Route): string => `${method} ${path}`;

type Outcome = Pick<Answer, 'status' | 'code'>;

// Nobody has these keys, so that a call that is let through changes nothing.
function call(client: Client, route: Route): Promise<Outcome> {
  const path = (route.host ? '/' : '') + route.path.replace(/\{\w+\}/g, '999999999');
  if (route.reply) return openReply(client, path);
  return client.request(route.method, path, route.method === 'GET' ? {} : { body: {} });
}

/** Opens a stream or a file and leaves it at once; one that is refused answers like any other route. */
async function openReply(client: Client, path: string): Promise<Outcome> {
  const { headers } = client;
  const response = await fetch(`${client.url}/api/admin${path}`, { headers });
  const isRefusal = response.headers.get('Content-Type')?.startsWith('application/json');
  if (isRefusal) return { status: response.status, code: ((await response.json()) as { code: number }).code };
  await response.body?.cancel();
  return { status: response.status, code: response.status };
}

/** Some at a time: each waits for the database more than it works. */
async function eachRoute(check: (route: Route) => Promise<void>): Promise<void> {
  const turns = pLimit(6);
  await Promise.all(routes.map((route) => turns(() => check(route))));
}

/** Each protected route once, with the next caller who is free. */
async function eachGuarded(
  check: (route: Route, roleId: number, client: Client) => Promise<void>,
): Promise<void> {
  const left = guarded.values();
  await Promise.all(
    callers.map(async ({ roleId, client }) => {
      for (const route of left) await check(route, roleId, client);
    }),
  );
}

/** Signing out ends a session, so it gets one of its own. */
const callerOf = (route: Route, caller: Client, account: MadeAdmin): Client | Promise<Client> =>
  route.path === '/logout' ? signIn(account) : caller;

const isRefused = ({ status }: Outcome): boolean => status === 401 || status === 403;

async function grant(roleId: number, slugs: string[]): Promise<void> {
  const permission_ids = slugs.map((slug) => permissionIds.get(slug));
  const { status, text } = await admin.put(`/roles/${roleId}`, { permission_ids });
  if (status !== 200) throw new Error(text);
}

test('every protected route has a permission row', (t) => {
  t.true(guarded.length >= 35, `${guarded.length} of ${routes.length} routes need a permission`);
  for (const route of guarded) t.true(permissionIds.has(slugOf(route)), name(route));
});

test.serial('an anonymous caller passes public routes only', async (t) => {
  await eachRoute(async (route) => {
    const answer = await call(service.anonymous, route);
    if (route.access === 'public') t.false(isRefused(answer), name(route));
    else t.deepEqual([answer.status, answer.code], [401, 401], name(route));
  });
});

test.serial('a forged token passes public routes only', async (t) => {
  const forged = service.anonymous.with({ Authorization: 'Bearer forged' });
  await eachRoute(async (route) => {
    const answer = await call(forged, route);
    if (route.access === 'public') t.false(isRefused(answer), name(route));
    else t.deepEqual([answer.status, answer.code], [401, 10007], name(route));
  });
});

test.serial('a caller without rights passes routes that need none', async (t) => {
  const account = await makeAdmin(admin);
  const caller = await signIn(account);
  await eachRoute(async (route) => {
    const answer = await call(await callerOf(route, caller, account), route);
    if (permissionOf(route)) t.deepEqual([answer.status, answer.code], [403, 20001], name(route));
    else t.false(isRefused(answer), name(route));
  });
});

test.serial('the right permission alone opens a route on the next request', async (t) => {
  await eachGuarded(async (route, roleId, client) => {
    await grant(roleId, [slugOf(route)]);
    t.false(isRefused(await call(client, route)), name(route));
  });
});

test.serial('every other permission together does not open a route', async (t) => {
  await eachGuarded(async (route, roleId, client) => {
    const others = [...permissionIds.keys()].filter((slug) => slug !== slugOf(route));
    t.is(others.length, permissionIds.size - 1, name(route));
    await grant(roleId, others);
    const answer = await call(client, route);
    t.deepEqual([answer.status, answer.code], [403, 20001], name(route));
  });
});

test.serial('a super administrator passes every route', async (t) => {
  await eachRoute(async (route) => {
    t.false(isRefused(await call(await callerOf(route, admin, service.account), route)), name(route));
  });
});
