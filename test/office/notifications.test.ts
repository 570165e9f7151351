// POST /notifications: rows first, all or none, whatever is unavailable; then a job that pushes them to the sockets.
import '../support/settings/environment.js';
import test from 'ava';
import { config } from '../../config/index.js';
import { change, select } from '../../src/lib/database/db.js';
import { patientRedis as redis } from '../../src/lib/redis/redis.js';
import { issueTicket } from '../../src/lib/redis/ticket.js';
import { openSession } from '../../src/models/access/admin-session.js';
import { deliverNotifications, storeNotification } from '../../src/models/office/notification.js';
import type { Credential } from '../../src/models/access/sign-in.js';
import { outcome } from '../support/client.js';
import { signedInWith, unique } from '../support/factories.js';
import { startApi, startWorkerProcess } from '../support/processes.js';
import { withoutRedis } from '../support/servers/redis.js';
import { selectRow } from '../support/rows.js';
import { serviceTest } from '../support/service-test.js';
import { openSocket, ticketOf } from '../support/socket.js';
import { statementsDuring } from '../support/statements.js';
import { until } from '../support/until.js';

const service = serviceTest({ withWorker: false });

// The worker is a process of its own, so that tests may do without it.
/** Administrators without passwords: what they receive is tried, not how they sign in. */
async function makeReceivers(count: number): Promise<number[]> {
  const prefix = unique('receiver-');
  const at = new Date();
  await change(
    `INSERT INTO admins (username, password_hash, nickname, created_at, updated_at)
     VALUES ${Array<string>(count).fill('(?, ?, ?, ?, ?)').join(', ')}`,
    Array.from({ length: count }, (_, index) => [`${prefix}-${index}`, '', 'receiver', at, at]).flat(),
  );
  const rows = await select<{ id: number }>('SELECT id FROM admins WHERE username LIKE ? ORDER BY id', [
    `${prefix}-%`,
  ]);
  return rows.map(({ id }) => id);
}

const rowsOf = (title: string) =>
  select<{ id: number; receiver_id: number }>(
    'SELECT id, receiver_id FROM notifications WHERE title = ? ORDER BY id',
    [title],
  );

const waitingKey = `{${config.redis.prefix}-notifications}:notifications:wait`;

test.serial('the request delivers a notification when the queue is full', async (t) => {
  const receiver = await signedInWith(service.admin, []);
  const socket = await openSocket(service.url, await ticketOf(receiver));
  await redis.set(waitingKey, 'no list');
  const sent = await service.admin.post('/notifications', { title: 'direct', content: 'x' });
  t.is((await socket.frame('notification')).data.id, sent.data.id);
  await redis.del(waitingKey);
});

test.serial('notifications are stored without Redis', async (t) => {
  const api = await startApi(withoutRedis);
  const receiver_ids = await makeReceivers(300);
  const title = unique('t');
  const sent = await service.admin.at(api.url).post('/notifications', { title, content: 'x', receiver_ids });
  t.is(sent.status, 200);
  t.is((await rowsOf(title)).length, 300);
  await api.stop();
});

test.serial('one unknown receiver among many leaves no row', async (t) => {
  const receivers = await makeReceivers(499);
  const title = unique('t');
  const receiver_ids = [...receivers.slice(0, 250), 999_999_999, ...receivers.slice(250)];
  const refused = await service.admin.post('/notifications', { title, content: 'x', receiver_ids });
  t.deepEqual(outcome(refused), [422, 30003, 'receiver_unknown']);
  t.deepEqual(refused.fields, ['receiver_ids']);
  const single = await service.admin.post('/notifications', {
    title,
    content: 'x',
    receiver_id: 999_999_999,
  });
  t.deepEqual(single.fields, ['receiver_id']);
  t.truthy(refused.errors?.receiver_ids);
  t.deepEqual(await rowsOf(title), []);
});

test.serial('notifications are stored and listed without a worker', async (t) => {
  const [early, late] = [await signedInWith(service.admin, []), await signedInWith(service.admin, [])];
  const sockets = [
    await openSocket(service.url, await ticketOf(early)),
    await openSocket(service.url, await ticketOf(late)),
  ];
  const receiver_ids = await Promise.all(
    [early, late].map(async (one) => (await one.get('/info')).data.id as number),
  );
  const title = unique('t');
  const posing = await service.admin.post('/notifications', { title, content: 'x', type: 'system' });
  t.is(posing.status, 422, 'the service alone speaks as the system');
  const sent = await service.admin.post('/notifications', { title, content: 'x', receiver_ids });
  t.is(sent.status, 200);
  t.is(sent.data.receiver_id, receiver_ids[0]);
  t.deepEqual(
    sent.data.ids,
    (await rowsOf(title)).map(({ id }) => id),
  );
  t.is((await early.post(`/notifications/${sent.data.ids[0]}/read`)).status, 200);
  t.is((await late.get('/notifications')).data.list[0].title, title);
  t.is(await redis.llen(waitingKey), 1);

  // A sweeper that is in no hurry: what it finds under way it would send a second time. And a worker that waits for Redis, which
  // takes 15 MB of frames in the next test.
  await startWorkerProcess({ SWEEP_AGE_SECONDS: '600', REDIS_TIMEOUT_MS: '5000' }, 'notifications');
  const frame = await sockets[1]?.frame('notification');
  t.like(frame?.data, { id: sent.data.ids[1], title, is_read: false });
  t.deepEqual(
    sockets[0]?.frames.map(({ type }) => type),
    ['read'],
    'what was read meanwhile is news no more',
  );
});

test.serial('five hundred receivers take a handful of statements', async (t) => {
  const receivers = (await makeReceivers(500)).reverse();
  const sockets = [];
  // Some of them look.
  const isLooking = (_: unknown, index: number) => index % 5 === 0;
  for (const receiver of receivers.filter(isLooking)) {
    const own = await selectRow<Credential>('SELECT id, password_hash FROM admins WHERE id = ?', [receiver]);
    const { jti } = await openSession(own, '127.0.0.1', undefined);
    sockets.push(await openSocket(service.url, await issueTicket(jti)));
  }
  const bystander = await openSocket(service.url, await ticketOf(await signedInWith(service.admin, [])));
  // The longest there is: 500 copies of it would be a statement of 15 MB.
  const [title, content] = [unique('t'), '长'.repeat(10_000)];
  const body = { title, content, type: 'message', receiver_ids: receivers };
  let ids: number[] = [];
  const statements = await statementsDuring(async () => {
    const sent = await service.admin.post('/notifications', body);
    t.is(sent.status, 200);
    t.is(sent.data.receiver_id, receivers[0]);
    ids = sent.data.ids as number[];
  });
  const own = statements.filter((sql) => /\bnotifications\b/.test(sql) && !/operation_logs/.test(sql));
  t.true(own.length <= 5, own.map((sql) => sql.slice(0, 200)).join('\n'));
  const rows = new Map((await rowsOf(title)).map(({ id, receiver_id }) => [receiver_id, id]));
  t.deepEqual(
    ids,
    receivers.map((receiver) => rows.get(receiver)),
  );
  const looked = ids.filter(isLooking);
  for (const [index, socket] of sockets.entries()) {
    const { data } = await socket.frame('notification');
    t.deepEqual([data.id, data.title, data.content === content], [looked[index], title, true]);
    // Where Redis was slow, the frames at hand were sent again, with the same ids.
    t.true(socket.frames.every((frame) => frame.data?.id === looked[index]));
  }
  t.deepEqual(bystander.frames, []);

  const open = `SELECT id FROM notifications WHERE title = ? AND undelivered_since IS NOT NULL`;
  // A job that Redis was too slow for is repeated after ever longer pauses.
  await until(async () => (await select(open, [title])).length === 0, 60_000);
  const [receiver, socket] = [receivers[0], sockets[0]];
  const countOf = (id?: number) => socket?.frames.filter(({ data }) => data?.id === id).length;
  const before = countOf(ids[0]);
  await deliverNotifications(ids);
  const later = await service.admin.post('/notifications', { ...body, receiver_ids: [receiver] });
  await until(() => countOf(later.data.id));
  t.is(countOf(ids[0]), before, 'a delivery that is run again sends nothing twice');
});

test.serial('a list has what is older while others are sent', async (t) => {
  const reader = await signedInWith(service.admin, []);
  const send = (title: string) => service.admin.post('/notifications', { title, content: 'x' });
  const { id } = (await send('the first')).data;
  for (let round = 0; round < 10; round++) {
    const sent = ['one', 'another', 'a third'].map(send);
    for (let time = 0; time < 5; time++) {
      const { list } = (await reader.get('/notifications?page_size=100')).data;
      t.is(list.at(-1).id, id);
    }
    await Promise.all(sent);
  }
});

test.serial('concurrent notifications of one event reach a receiver once', async (t) => {
  const receiverIds = await makeReceivers(1);
  const event = {
    title: unique('t'),
    content: 'x',
    type: 'system' as const,
    receiverIds,
    eventKey: unique('event-'),
  };
  const made = await Promise.all(Array.from({ length: 8 }, () => storeNotification(event)));
  t.is(made.flat().length, 1);
  t.is((await rowsOf(event.title)).length, 1);
  await t.throwsAsync(storeNotification({ ...event, receiverIds: [999_999_999] }), {
    message: /receiver_unknown/,
  });
});
