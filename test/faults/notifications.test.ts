// Notifications are the outbox of their frames: when a worker is killed between commit and delivery, the frame is still sent.
import '../support/environment.js';
import test from 'ava';
import { select } from '../../src/lib/database/db.js';
import { recordVerified } from '../../src/models/trade/callback-intake.js';
import { beginMerge, stopWaiting } from '../../src/models/files/chunk-merge.js';
import { paymentPeriod } from '../../src/lib/values/numbers.js';
import { askExport } from '../support/exports.js';
import { makeMethod, makePayment, unique } from '../support/factories.js';
import { sendChunk } from '../support/files.js';
import { sheet, startImport } from '../support/imports.js';
import { startWorkerProcess } from '../support/processes.js';
import { ownRedisServiceTest } from '../support/own-redis-service.js';
import { openSocket, ticketOf } from '../support/socket.js';
import { holding, lockWaits } from '../support/other-connection.js';
import { until } from '../support/until.js';

const own = ownRedisServiceTest();

const quickSweeps = { SWEEP_SECONDS: '1', SWEEP_AGE_SECONDS: '1' };

/** Work whose end is notified: begins it, and names the row that the end needs. */
interface Work {
  name: string;
  queue: string;
  /** @returns a text of the notification's content, and the row whose lock keeps the work from ending */
  begin: () => Promise<{ content: string; table: string; where: string }>;
}

const works: Work[] = [
  {
    name: 'a merge',
    queue: 'files',
    async begin() {
      const [chunk_id, filename] = [unique('merge-'), `${unique('merge-')}.txt`];
      await sendChunk(own.admin, chunk_id, 0, Buffer.from('x'), { total_chunks: 1, filename });
      const key = { admin_id: own.adminId, chunk_id };
      await beginMerge(key, {});
      await stopWaiting(key);
      return {
        content: filename,
        table: 'chunk_sessions',
        where: `chunk_id = '${chunk_id}'`,
      };
    },
  },
  {
    name: 'an export',
    queue: 'exports',
    async begin() {
      const id = await askExport(own.admin, '/users');
      const { filename } = (await own.admin.get(`/exports/${id}`)).data as { filename: string };
      return { content: filename, table: 'exports', where: `id = ${id}` };
    },
  },
  {
    name: 'an import',
    queue: 'imports',
    async begin() {
      const { content } = sheet(1, 1);
      const id = await startImport(own.admin, content);
      const { filename } = (await own.admin.get(`/imports/${id}`)).data as { filename: string };
      return { content: filename, table: 'imports', where: `id = ${id}` };
    },
  },
  {
    name: 'a payment that needs attention',
    queue: 'payments',
    async begin() {
      const payment = await makePayment(own.admin, (await makeMethod(own.admin)).id);
      await own.admin.put(`/orders/${payment.order_no}`, { status: 'cancelled' });
      const paymentNo = payment.payment_no;
      await recordVerified({
        ...{ type: 'mock', period: paymentPeriod(paymentNo), paymentNo, thirdPartyNo: unique('T-') },
        ...{ fields: {}, ip: '127.0.0.1', state: 'pending', verdict: 'verified', traceId: 'test' },
      });
      return {
        content: paymentNo,
        table: 'payments',
        where: `payment_no = '${paymentNo}'`,
      };
    },
  },
];

const notices = (content: string): Promise<{ undelivered_since: Date | null }[]> =>
  select('SELECT undelivered_since FROM notifications WHERE content LIKE ?', [`%${content}%`]);

for (const { name, queue, begin } of works)
  test.serial(`${name} whose worker is killed between commit and delivery is notified once`, async (t) => {
    const { content, table, where } = await begin();
    const letGo = await holding(`SELECT 1 FROM ${table} WHERE ${where} FOR UPDATE`);
    const first = await startWorkerProcess({ ...own.redis.env, ...quickSweeps }, `${queue},notifications`);
    // The end waits for the lock, then finds no Redis to send its frame over.
    await until(async () => (await lockWaits(table)) > 0, 60_000);
    await own.redis.stop('SIGKILL');
    await letGo();
    await until(async () => (await notices(content)).length > 0, 60_000);
    await first.kill();
    t.truthy((await notices(content))[0]?.undelivered_since);

    await own.redis.start();
    const socket = await openSocket(own.admin.url, await ticketOf(own.admin));
    const second = await startWorkerProcess({ ...own.redis.env, ...quickSweeps }, `${queue},notifications`);
    const frames = () =>
      socket.frames.filter(
        ({ type, data }) => type === 'notification' && String(data?.content).includes(content),
      );
    await until(() => frames().length > 0, 60_000);
    await until(async () => (await notices(content))[0]?.undelivered_since === null);
    t.deepEqual([frames().length, (await notices(content)).length], [1, 1]);
    socket.socket.close();
    await second.kill();
  });
