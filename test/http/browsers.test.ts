// What browsers need: CORS headers, files without a token header, streams that reconnect, and forms as they send them.
import '../support/settings/shared-environment.js';
import test from 'ava';
import { Client } from '../support/client.js';
import { askExport, endOf } from '../support/exports.js';
import { unique } from '../support/factories.js';
import { png } from '../support/files.js';
import { killProcesses, startApi, type TestProcess } from '../support/processes.js';
import { service } from '../support/shared-service.js';
import { ticketOf } from '../support/socket.js';

const origin = 'https://admin.test';
const otherOrigin = 'https://b.example:8443';
let api: TestProcess;
let anonymous: Client;
let admin: Client;

test.before(async () => {
  api = await startApi({ CORS_ORIGINS: `${origin}, ${otherOrigin}` });
  anonymous = new Client(api.url);
  admin = await anonymous.signIn();
});

test.after.always(killProcesses);

const names = (list: string | null): string[] => (list ?? '').toLowerCase().split(/, */);

test('CORS exposes file names, ranges and limits to an allowed origin', async (t) => {
  const sent =
    'authorization,x-requested-with,x-tenant-code,x-request-id,idempotency-key,x-timezone,accept-language,range,if-none-match';
  const asked = await fetch(`${api.url}/api/admin/info`, {
    method: 'OPTIONS',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': 'GET',
      'Access-Control-Request-Headers': sent,
    },
  });
  const allowed = names(asked.headers.get('Access-Control-Allow-Headers'));
  for (const name of sent.split(',')) t.true(allowed.includes(name), name);
  const { headers } = await admin.get('/info', { Origin: origin });
  const exposed = names(headers.get('Access-Control-Expose-Headers'));
  for (const name of [
    ...['content-disposition', 'content-range', 'accept-ranges', 'etag'],
    ...['x-trace-id', 'retry-after', 'ratelimit'],
  ])
    t.true(exposed.includes(name), name);
});

test('only pages of the configured origins may call', async (t) => {
  const preflight = (Origin: string) =>
    fetch(`${api.url}/api/admin/login`, {
      method: 'OPTIONS',
      headers: {
        Origin,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'authorization,content-type',
      },
    });
  for (const allowed of [origin, otherOrigin]) {
    const { status, headers } = await preflight(allowed);
    t.is(status, 204);
    t.is(headers.get('Access-Control-Allow-Origin'), allowed);
    t.regex(headers.get('Access-Control-Allow-Methods') ?? '', /POST/);
    t.regex(headers.get('Access-Control-Allow-Headers') ?? '', /Authorization/i);
    const refused = await anonymous.post('/login', {}, { Origin: allowed });
    t.deepEqual(
      [refused.status, refused.headers.get('Access-Control-Allow-Origin')],
      [400, allowed],
      'failures too',
    );
    t.regex(refused.headers.get('Vary') ?? '', /Origin/);
  }
  const foreign = ['https://admin.test.evil', 'https://b.example', 'http://admin.test', 'null'];
  for (const other of foreign) {
    t.is((await preflight(other)).headers.get('Access-Control-Allow-Origin'), null, other);
    t.is(
      (await admin.get('/heartbeat', { Origin: other })).headers.get('Access-Control-Allow-Origin'),
      null,
      other,
    );
  }
  t.is(
    (await service.admin.get('/heartbeat', { Origin: origin })).headers.get('Access-Control-Allow-Origin'),
    null,
  );
});

/** The address of a link, at this process. */
const at = (url: string): string => api.url + url.slice(new URL(url).origin.length);

test('a signed address opens its file without a header', async (t) => {
  const made = (await admin.upload('/attachments/upload', png, { filename: 'a.png' })).data as { id: number };
  const own = await anonymous.signIn();
  const { url } = (await own.get(`/attachments/${made.id}/link?inline=true`)).data as { url: string };
  const shown = await fetch(at(url));
  t.is(shown.status, 200);
  t.deepEqual(Buffer.from(await shown.arrayBuffer()), png);
  t.is(shown.headers.get('Cross-Origin-Resource-Policy'), 'cross-origin');
  t.is(shown.headers.get('Cache-Control'), 'private, no-cache');
  const part = await fetch(at(url), { headers: { Range: 'bytes=0-3' } });
  t.deepEqual([part.status, part.headers.get('Content-Range')], [206, `bytes 0-3/${png.length}`]);
  const known = shown.headers.get('ETag') ?? '';
  const again = { 'If-None-Match': known, 'Cache-Control': 'max-age=0' };
  t.is((await fetch(at(url), { headers: again })).status, 304);
  const link = new URL(url).search;
  for (const other of [
    `${api.url}/api/admin/attachments/${made.id}/download${link}`,
    `${api.url}/api/admin/attachments/${made.id}${link}`,
    at(url).replace(/\?link=\d+/, '?link=99999999999'),
  ])
    t.is((await fetch(other)).status, 401, other);
  t.is((await fetch(at(url), { headers: { Authorization: 'Bearer x' } })).status, 401, 'a token goes before');
  t.is((await own.post('/logout')).status, 200);
  t.is((await fetch(at(url))).status, 401, 'it ends with its session');
});

test('an export has a signed address too', async (t) => {
  const id = await askExport(admin, '/users', { username: unique() });
  await endOf(admin, id);
  const { url } = (await admin.get(`/exports/${id}/link`)).data as { url: string };
  const file = await fetch(at(url));
  t.is(file.status, 200);
  t.regex(file.headers.get('Content-Disposition') ?? '', /^attachment/);
  t.is((await admin.get('/imports/999/link')).status, 404);
});

test('an event stream reconnects with its ticket while its session lasts', async (t) => {
  const own = await anonymous.signIn();
  const ticket = await ticketOf(own);
  const open = async (path: string): Promise<number> => {
    const response = await fetch(`${api.url}/api/admin${path}?ticket=${ticket}`);
    await response.body?.cancel();
    return response.status;
  };
  t.is(await open('/dashboard/stream'), 200);
  t.is(await open('/dashboard/stream'), 200);
  t.is(await open('/monitor/system-info/stream'), 401);
  t.is((await own.post('/logout')).status, 200);
  t.is(await open('/dashboard/stream'), 401);
});

test('a form may send 0 or an empty text for none', async (t) => {
  const username = unique('none');
  const fields = { username, password: 'a good password 1', nickname: '', department_id: 0 };
  const made = await admin.post('/admins', fields);
  t.is(made.status, 200, made.text);
  t.like(made.data, { nickname: username, department_id: null });
  t.is((await admin.put(`/admins/${made.data.id}`, { department_id: '' })).status, 200);
  const permission = { name: 'x', slug: unique('x.'), method: 'GET', path: '/x', menu_id: 0 };
  t.like((await admin.post('/permissions', permission)).data, { menu_id: null });
});

test('a role form gets all enabled permissions at once, grouped by menu', async (t) => {
  const [off, loose] = await Promise.all(
    [0, 1].map(async (status) => {
      const slug = unique('own.');
      const fields = { name: slug, slug, method: 'GET', path: `/${slug}`, status };
      return (await admin.post('/permissions', fields)).data as { id: number; name: string };
    }),
  );
  interface Option {
    value: number | string;
    label: string;
    children?: Option[];
  }
  const groups = (await admin.get('/options?type=permission')).data as Option[];
  const { list } = (await admin.get('/permissions?slug=role.index')).data;
  const [role] = list as { id: number; name: string; menu: { id: number; title: string } }[];
  const group = groups.find(({ value }) => value === `menu:${role?.menu.id}`);
  t.is(group?.label, role?.menu.title);
  t.deepEqual(
    group?.children?.find(({ value }) => value === role?.id),
    { value: role?.id, label: role?.name },
  );
  t.deepEqual(
    groups.find(({ value }) => value === loose?.id),
    { value: loose?.id, label: loose?.name },
  );
  const shown = groups.flatMap(({ children, ...option }) => children ?? [option]).map(({ value }) => value);
  t.true(shown.length > 100);
  t.is(new Set(shown).size, shown.length);
  t.false(shown.includes(off?.id as number));
});
