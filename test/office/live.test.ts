// Pushed data: notifications over the WebSocket, event streams, and both ending with their session. Two API processes.
import '../support/settings/environment.js';
import { once } from 'node:events';
import { statfs } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import test from 'ava';
import { config } from '../../config/index.js';
import { queueNames } from '../../src/lib/queue/names.js';
import { patientRedis as redis } from '../../src/lib/redis/redis.js';
import { change, db, select } from '../../src/lib/database/db.js';
import { deliver } from '../../src/models/office/notification.js';
import { changing } from '../../src/models/tables/versions.js';
import { keysLike } from '../support/servers/redis.js';
import type { Client } from '../support/client.js';
import { openStream } from '../support/events.js';
import {
  callBack,
  makeAdmin,
  makeMethod,
  makeOrder,
  makePayment,
  makeRole,
  makeUser,
  mockCallback,
  signedInWith,
  unique,
} from '../support/factories.js';
import { connectionsAt } from '../support/other-connection.js';
import { startApi, type TestProcess } from '../support/processes.js';
import { sendText } from '../support/raw-request.js';
import { paidPayment } from '../support/refunds.js';
import { serviceTest } from '../support/service-test.js';
import { openSocket, ticketOf } from '../support/socket.js';
import { until } from '../support/until.js';

const service = serviceTest();
let second: TestProcess;

test.before(async () => {
  // Behind a trusted proxy a request may name its own address.
  second = await startApi({ CORS_ORIGINS: 'https://admin.test', TRUSTED_PROXIES: '127.0.0.1' });
});

const newAdmin = async (): Promise<Client & { adminId: number }> => {
  const account = await makeAdmin(service.admin);
  return Object.assign(await service.anonymous.signIn(account), { adminId: account.id });
};

// The first: sockets of other tests would take all of its frames, too.
test.serial('a socket that does not read is dropped without delaying others', async (t) => {
  const slow = await openSocket(service.url, await ticketOf(await newAdmin()));
  const quick = await openSocket(service.url, await ticketOf(await newAdmin()));
  slow.socket.pause();
  for (let index = 0; index < 150; index++) {
    await deliver({ frame: { type: 'flood', data: 'x'.repeat(100_000) } });
  }
  await until(() => quick.frames.filter(({ type }) => type === 'flood').length === 150);
  const open = (await service.admin.get('/monitor/system-info')).data.websocket.connections;
  slow.socket.resume();
  t.is(await slow.closed, 1006);
  t.is(quick.socket.readyState, 1);
  t.true(open >= 1);
});

test.serial('a notification for everybody is one row and reaches the sockets of every process', async (t) => {
  const [one, other] = [await newAdmin(), await newAdmin()];
  const here = await openSocket(service.url, await ticketOf(one));
  const there = await openSocket(second.url, await ticketOf(other));
  const title = unique('t');
  const sent = await service.admin.post('/notifications', { title, content: 'to all' });
  t.is(sent.data.receiver_id, null);
  for (const { frames } of [here, there]) {
    const frame = await until(() => frames.find((candidate) => candidate.data?.title === title));
    t.deepEqual(Object.keys(frame.data ?? {}).sort(), [
      'content',
      'created_at',
      'id',
      'is_read',
      'title',
      'type',
    ]);
    t.like(frame, { type: 'notification', data: { id: sent.data.id, content: 'to all', is_read: false } });
  }
  const [{ rows } = { rows: 0 }] = await select<{ rows: number }>(
    'SELECT COUNT(*) AS `rows` FROM notifications WHERE title = ?',
    [title],
  );
  t.is(rows, 1);
});

test.serial('a notification for one administrator is visible only to them', async (t) => {
  const [mine, other] = [await newAdmin(), await newAdmin()];
  const [socket, foreign] = [
    await openSocket(second.url, await ticketOf(mine)),
    await openSocket(second.url, await ticketOf(other)),
  ];
  const sent = await service.admin.post('/notifications', {
    title: 'x',
    content: 'y',
    type: 'message',
    receiver_id: mine.adminId,
  });
  t.is((await socket.frame('notification')).data.id, sent.data.id);
  t.is((await other.get(`/notifications/${sent.data.id}`)).status, 404);
  t.is((await other.post(`/notifications/${sent.data.id}/read`)).code, 20002);
  t.is((await mine.get('/notifications/unread-count')).data.count, 1);
  t.is((await mine.post(`/notifications/${sent.data.id}/read`)).status, 200);
  t.is((await mine.post(`/notifications/${sent.data.id}/read`)).status, 200);
  t.deepEqual((await socket.frame('read')).data, { ids: [sent.data.id] });
  t.is((await mine.get('/heartbeat')).data.unread_count, 0);
  t.is((await mine.get('/notifications?is_read=true')).data.total, 1);
  t.is((await mine.get('/notifications?is_read=false')).data.total, 0);
  t.is(foreign.frames.length, 0);
});

test.serial('read-all covers only existing notifications', async (t) => {
  const mine = await newAdmin();
  const ids = [mine.adminId, 1];
  const several = await service.admin.post('/notifications', {
    title: 'a',
    content: 'b',
    receiver_ids: ids,
  });
  t.is(several.data.ids.length, 2);
  await mine.post('/notifications/read-all');
  t.is((await mine.get('/notifications/unread-count')).data.count, 0);
  await service.admin.post('/notifications', { title: 'c', content: 'd', receiver_id: mine.adminId });
  t.is((await mine.get('/notifications/recent?limit=1')).data.list[0].title, 'c');
  t.is((await mine.get('/notifications/unread-count')).data.count, 1);
  const late = await newAdmin();
  t.is((await late.get('/notifications')).data.total, 0);
});

test.serial('invalid notifications are refused', async (t) => {
  const refused = await service.admin.post('/notifications', { title: 'x'.repeat(151), content: '' });
  t.is(refused.status, 422);
  t.deepEqual(refused.fields.sort(), ['content', 'title']);
  const unknown = await service.admin.post('/notifications', {
    title: 'x',
    content: 'y',
    receiver_ids: [999_999],
  });
  t.is(unknown.status, 422);
  t.is(unknown.code, 30003);
});

test.serial('exactly one of fifty sockets with the same ticket opens', async (t) => {
  const ticket = await ticketOf(await newAdmin());
  const attempts = await Promise.allSettled(
    Array.from({ length: 50 }, (_, index) => openSocket(index % 2 ? service.url : second.url, ticket)),
  );
  t.is(attempts.filter(({ status }) => status === 'fulfilled').length, 1);
});

test.serial('tickets are stored as digests for 60 seconds', async (t) => {
  const mine = await newAdmin();
  const ticket = await ticketOf(mine);
  const keys = await keysLike(`{${process.env.REDIS_PREFIX}*:ticket:*`);
  t.true(keys.length > 0 && keys.every((name) => !name.includes(ticket)));
  const ttl = await redis.ttl(keys[0] as string);
  t.true(ttl > 0 && ttl <= 60);
});

test.serial('a socket is refused without a ticket', async (t) => {
  const mine = await newAdmin();
  const token = mine.headers.Authorization?.replace('Bearer ', '') as string;
  const refusal = await t.throwsAsync(openSocket(service.url, ''), { message: '401' });
  t.like(refusal?.cause, { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
  await t.throwsAsync(openSocket(service.url, token), { message: '401' });
  await t.throwsAsync(openSocket(service.url, `&token=${token}`), { message: '401' });
});

test.serial('a socket is refused with two tickets', async (t) => {
  const mine = await newAdmin();
  const [ticket, other] = [await ticketOf(mine), await ticketOf(mine)];
  await t.throwsAsync(openSocket(service.url, `${ticket}&ticket=${other}`), { message: '401' });
  t.is((await openSocket(service.url, ticket)).socket.readyState, 1);
});

test.serial('a malformed handshake is refused in the envelope', async (t) => {
  const mine = await newAdmin();
  const answerTo = async (method: string, lines: string[]): Promise<string> => {
    const target = `/ws/admin/notifications?ticket=${await ticketOf(mine)}`;
    const head = [`${method} ${target} HTTP/1.1`, 'Host: a', 'Connection: Upgrade', 'Upgrade: websocket'];
    return sendText(service.url, [...head, 'Accept-Language: en-US', ...lines, '', ''].join('\r\n'));
  };
  const key = `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`;
  const version = 'Sec-WebSocket-Version: 13';
  const refused =
    /^HTTP\/1\.1 400 .*X-Trace-Id: .*"code":30001,"message":"The request is malformed","data":null,/s;
  for (const lines of [[key], [version], [key, 'Sec-WebSocket-Version: 7'], [key, version, 'Host: b']])
    t.regex(await answerTo('GET', lines), refused, lines.join());
  t.regex(await answerTo('GET', [key]), /\r\nSec-WebSocket-Version: 13\r\n/);
  t.regex(await answerTo('POST', [key, version]), /^HTTP\/1\.1 404 .*"error_code":"route_not_found"/s);
});

test.serial('a foreign origin is refused without consuming the ticket', async (t) => {
  const ticket = await ticketOf(await newAdmin());
  const Origin = 'https://evil.test';
  await t.throwsAsync(openSocket(second.url, ticket, { Origin }), { message: '403' });
  const upgrade = { Connection: 'Upgrade', Upgrade: 'websocket', Origin, 'Accept-Language': 'en-US' };
  const [response] = (await once(
    get(`${second.url}/ws/admin/notifications?ticket=${ticket}`, { headers: upgrade }),
    'response',
  )) as [IncomingMessage];
  const refused = (await json(response)) as { error_code: string; message: string };
  t.deepEqual(
    [refused.error_code, refused.message],
    ['origin_not_allowed', 'Pages of https://evil.test may not connect here'],
  );
  const opened = await openSocket(second.url, ticket, { Origin: 'https://admin.test' });
  t.is(opened.socket.readyState, 1);
});

test.serial("an administrator's eleventh socket closes the oldest one", async (t) => {
  const mine = await newAdmin();
  const sockets = [];
  for (let index = 0; index < 11; index++) sockets.push(await openSocket(service.url, await ticketOf(mine)));
  t.is(await sockets[0]?.closed, 4429);
  t.is(sockets[10]?.socket.readyState, 1);
});

test.serial('a message that is too large closes the socket', async (t) => {
  const socket = await openSocket(service.url, await ticketOf(await newAdmin()));
  socket.socket.send('{"type":"anything"}');
  socket.socket.send('x'.repeat(20_000));
  t.is(await socket.closed, 1009);
});

test.serial('a socket that opens while sessions are being read stays open', async (t) => {
  const [one, other] = [await newAdmin(), await newAdmin()];
  const first = await openSocket(second.url, await ticketOf(one));
  await openSocket(service.url, await ticketOf(one));
  t.is((await other.at(second.url).get('/info')).status, 200);
  const ticket = await ticketOf(other);
  const late = await db.transaction(async (transaction) => {
    await db.query('LOCK TABLES admin_sessions WRITE', { transaction });
    // Both processes look at their connections, because the blacklist may have changed.
    await changing(['blacklist'], () => Promise.resolve());
    await until(async () => (await connectionsAt('%FROM `admin_sessions`%JOIN `admins`%')).length >= 2);
    const socket = await openSocket(second.url, ticket);
    await db.query('UNLOCK TABLES', { transaction });
    return socket;
  });
  const { list } = (await service.admin.get(`/online-admins?page_size=100`)).data;
  const session = list.find((line: { admin_id: number }) => line.admin_id === one.adminId);
  t.is((await service.admin.delete(`/online-admins/${session.id}`)).status, 200);
  t.is(await first.closed, 4401);
  t.is(late.socket.readyState, 1);
});

test.serial(
  'revoking a session ends its requests, sockets and streams everywhere within a second',
  async (t) => {
    const account = await makeAdmin(service.admin, [(await makeRole(service.admin, ['monitor.show'])).id]);
    const mine = await service.anonymous.signIn(account);
    const socket = await openSocket(second.url, await ticketOf(mine));
    const stream = await openStream(mine.at(second.url), '/monitor/system-info/stream?interval=1');
    await stream.event('system_info');
    const { list } = (await service.admin.get(`/online-admins?username=${account.username}`)).data;
    t.like(list[0], { username: account.username, is_current: false, ip: '127.0.0.1' });
    // The time is the fact: docs/promises.md R11.
    const started = Date.now();
    t.deepEqual(
      (await service.admin.post('/online-admins/batch-kick-out', { token_ids: `${list[0].id},999999` })).data,
      { count: 1 },
    );
    const refused = await mine.at(second.url).get('/info');
    t.is(refused.status, 401);
    t.is(refused.code, 10004);
    t.is(await socket.closed, 4401);
    await stream.ended;
    t.true(Date.now() - started < 1500);
    t.is((await service.admin.delete(`/online-admins/${list[0].id}`)).status, 404);
  },
);

test.serial('a stream ends with the right to it, and a socket once its address is blocked', async (t) => {
  const role = await makeRole(service.admin, ['monitor.show']);
  const account = await makeAdmin(service.admin, [role.id]);
  const mine = await service.anonymous.signIn(account);
  const ip = '203.0.113.9';
  const socket = await openSocket(second.url, await ticketOf(mine), { 'X-Forwarded-For': ip });
  const stream = await openStream(mine.at(second.url), '/monitor/system-info/stream');
  await stream.event('connected');
  t.is((await service.admin.put(`/roles/${role.id}`, { permission_ids: [] })).status, 200);
  await stream.ended;
  t.is(socket.socket.readyState, 1);
  t.is((await service.admin.post('/blacklists', { ip })).status, 200);
  t.is(await socket.closed, 4401);
});

test.serial('a socket is closed when the time of its session is over', async (t) => {
  const mine = await newAdmin();
  const ticket = await ticketOf(mine);
  const soon = new Date(Date.now() + 3000);
  await change('UPDATE admin_sessions SET expires_at = ? WHERE admin_id = ?', [soon, mine.adminId]);
  const socket = await openSocket(second.url, ticket);
  t.is(await socket.closed, 4401);
  t.true(Date.now() >= soon.getTime());
});

test.serial('nobody can end the session of somebody with more rights', async (t) => {
  const stronger = await signedInWith(service.admin, ['online_admin.index', 'order.store']);
  const limited = await signedInWith(service.admin, ['online_admin.index', 'online_admin.kick_out']);
  const { list } = (await limited.get('/online-admins?username=admin&page_size=100')).data;
  const boss = list.find((session: { username: string }) => session.username === 'admin');
  t.is((await limited.delete(`/online-admins/${boss.id}`)).errorCode, 'super_admin_protected');
  const others = (await limited.get(`/online-admins?username=${stronger.account?.username}`)).data.list;
  const refused = await limited.delete(`/online-admins/${others[0].id}`);
  t.deepEqual([refused.status, refused.errorCode], [403, 'grant_beyond_own']);
  t.is((await stronger.get('/heartbeat')).status, 200);
  const own = list.find((session: { is_current: boolean }) => session.is_current);
  t.is((await limited.delete(`/online-admins/${own.id}`)).status, 200);
  t.is((await limited.get('/info')).code, 10004);
  for (const token_ids of ['1,x', '9007199254740992'])
    t.is((await service.admin.post('/online-admins/batch-kick-out', { token_ids })).status, 422, token_ids);
});

test.serial('a stream sends connected and a value at once', async (t) => {
  const limited = await signedInWith(service.admin, ['dashboard.show']);
  const ticket = await ticketOf(limited);
  const bare = limited.with({ Authorization: '' });
  const stream = await openStream(
    bare,
    `/dashboard/stream?interval=2&ticket=${ticket}&timezone=Asia/Shanghai`,
  );
  t.is(stream.status, 200);
  t.is((await stream.event('connected')).data, null);
  const first = await stream.event<{ count: { recent_logins: { created_at: string }[] } }>('dashboard_data');
  t.regex(first.timestamp, /Z$/);
  t.regex(first.data.count.recent_logins[0]?.created_at ?? '', /\+08:00$/);
  await until(() => stream.events.filter(({ type }) => type === 'dashboard_data').length >= 2);
  stream.close();
  const again = await bare.get(`/dashboard/count?ticket=${ticket}`);
  t.is(again.status, 401);
  t.is((await openStream(bare, `/monitor/system-info/stream?ticket=${ticket}`)).status, 401);
});

test.serial('an administrator has twenty streams at most, and another when one has ended', async (t) => {
  const mine = await signedInWith(service.admin, ['monitor.show']);
  const open = () => openStream(mine, '/monitor/system-info/stream');
  const streams = await Promise.all(Array.from({ length: 20 }, open));
  t.true(streams.every(({ status }) => status === 200));
  t.is((await open()).status, 429);
  streams[0]?.close();
  t.true(await until(async () => (await open()).status === 200));
  for (const stream of streams) stream.close();
});

test.serial('CPU usage is measured over an interval', async (t) => {
  // While Redis is slow to answer, the queues are left out.
  const { data } = await until(async () => {
    const answer = await service.admin.get('/monitor/system-info');
    return answer.data.queues.length > 0 ? answer : undefined;
  });
  t.true(data.cpu.usage >= 0 && data.cpu.usage <= 100);
  t.is(data.cpu.usage, data.cpu.percent);
  t.is(data.go.version, process.version);
  t.regex(data.go.gc_pause, /^\d+\.\dms$/);
  t.is(data.queues.length, queueNames.length);
  t.is(data.database.status, 'up');
  t.is(data.redis.status, 'up');
  t.true(data.memory.used > 0);
  const { blocks, bsize } = await statfs(config.storage.root);
  t.is(data.disk.total, blocks * bsize);
});

test.serial('a sign-in from a new address is notified to its owner', async (t) => {
  const account = await makeAdmin(service.admin);
  const from = (address: string) =>
    service.anonymous.at(second.url).with({ 'X-Forwarded-For': address }).signIn(account);
  const mine = await from('203.0.113.1');
  await from('203.0.113.1');
  t.is((await mine.get('/notifications/unread-count')).data.count, 0);
  await from('203.0.113.2');
  const { list } = (await mine.get('/notifications')).data;
  t.is(list.length, 1);
  t.true(list[0].content.includes('203.0.113.2'));
  t.is(list[0].type, 'system');
  // Of IPv6 a device has a whole /64.
  const addresses = ['2001:db8:1:2::1', '2001:db8:1:2:a5:b6:c7:d8', '2001:db8:1:3::1'];
  for (const [place, count] of [2, 2, 3].entries()) {
    await from(addresses[place] ?? '');
    t.is((await mine.get('/notifications/unread-count')).data.count, count, addresses[place]);
  }
});

test.serial('every socket receives changes in few frames', async (t) => {
  const role = await makeRole(service.admin);
  const other = await service.anonymous.signIn(await makeAdmin(service.admin, [role.id]));
  const socket = await openSocket(service.url, await ticketOf(other));
  const user = await makeUser(service.admin);
  const before = socket.changes.length;
  await Promise.all(Array.from({ length: 30 }, () => makeOrder(service.admin, '1.00', { user_id: user.id })));
  await until(() => socket.changes.some((scopes) => scopes.includes('orders')) || undefined);
  t.true(socket.changes.length - before < 30);
  socket.socket.close();
});

test.serial('what is written shows on open pages', async (t) => {
  const { admin } = service;
  const { id: methodId } = await makeMethod(admin);
  const user = await makeUser(admin);
  const order = await makeOrder(admin, '1.00', { user_id: user.id });
  const [late, paid] = [await makePayment(admin), await paidPayment(admin)];
  const socket = await openSocket(service.url, await ticketOf(admin));
  let department = 0;
  const writes: [string, string, () => Promise<unknown>][] = [
    ['a new role', 'identity', () => makeRole(admin)],
    [
      'a new department',
      'identity',
      async () => (department = (await admin.post('/departments', { name: unique('d') })).data.id),
    ],
    ['a deleted department', 'identity', () => admin.delete(`/departments/${department}`)],
    ['a new user', 'users', () => makeUser(admin)],
    ['a dictionary', 'dictionaries', () => admin.post('/dictionaries', { name: 'n', code: unique('c') })],
    [
      'money for a user',
      'user_balance_logs',
      () => admin.post(`/users/${user.id}/update-balance`, { type: 'income', amount: '1.00' }),
    ],
    [
      'a new payment',
      'payments',
      () => admin.post('/payments', { order_no: order.order_no, payment_method_id: methodId }),
    ],
    ['a paid order', 'orders', () => callBack(admin, late)],
    [
      'a refund',
      'refunds',
      () =>
        admin.post('/refunds', {
          payment_no: paid.payment_no,
          amount: '1.00',
          destination: 'balance',
          reason: 'x',
        }),
    ],
  ];
  for (const [what, scope, write] of writes) {
    const before = socket.changes.length;
    await write();
    const seen = () => socket.changes.slice(before).some((scopes) => scopes.includes(scope));
    t.true(await until(seen), what);
  }
  const logged = () => socket.changes.some((scopes) => scopes.includes('operation_logs'));
  t.true(await until(logged), 'their entries in the log');
  socket.socket.close();
});

test.serial('a refused callback shows on open pages of its payment', async (t) => {
  const payment = await makePayment(service.admin);
  const socket = await openSocket(service.url, await ticketOf(service.admin));
  const forged = { ...mockCallback(payment), sign: 'f'.repeat(64) };
  t.is((await service.anonymous.post('//api/payment/notify/mock', forged)).status, 400);
  await until(() => socket.changes.some((scopes) => scopes.includes('payments')) || undefined);
  socket.socket.close();
});
