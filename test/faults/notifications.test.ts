// Notifications are the outbox of their frames: when a worker is killed between commit and delivery, the frame is still sent.
import '../support/environment.js';
import { own } from '../support/own-redis-service.js';
import test from 'ava';
import { select } from '../../src/lib/database/db.js';
import { recordVerified } from '../../src/models/trade/callback-intake.js';
import { beginMerge, stopWaiting } from '../../src/models/files/chunk-merge.js';
import { paymentPeriod } from '../../src/lib/values/numbers.js';
import { askExport } from '../support/exports.js';
import { makePayment, unique } from '../support/factories.js';
import { sendChunk } from '../support/files.js';
import { sheet, startImport } from '../support/imports.js';
import { startWorkerProcess } from '../support/processes.js';
import { openSocket, ticketOf } from '../support/socket.js';
import { holding, lockWaits } from '../support/other-connection.js';
import { until } from '../support/until.js';

const quickSweeps = { SWEEP_SECONDS: '1', SWEEP_AGE_SECONDS: '1' };

/** A text of the content of a notification, and the row whose lock keeps the work from ending. */
interface Ending {
  content: string;
  table: string;
  where: string;
}

/** By queue: begins work whose end is notified. */
const works: Record<string, () => Promise<Ending>> = {
  async files() {
    const [chunk_id, filename] = [unique('merge-'), `${unique('merge-')}.txt`];
    await sendChunk(own.admin, chunk_id, 0, Buffer.from('x'), { total_chunks: 1, filename });
    const key = { admin_id: own.adminId, chunk_id };
    await beginMerge(key, {});
    await stopWaiting(key);
    return { content: filename, table: 'chunk_sessions', where: `chunk_id = '${chunk_id}'` };
  },
  async exports() {
    const id = await askExport(own.admin, '/users');
    const { filename } = (await own.admin.get(`/exports/${id}`)).data as { filename: string };
    return { content: filename, table: 'exports', where: `id = ${id}` };
  },
  async imports() {
    const id = await startImport(own.admin, sheet(1, 1).content);
    const { filename } = (await own.admin.get(`/imports/${id}`)).data as { filename: string };
    return { content: filename, table: 'imports', where: `id = ${id}` };
  },
  /** A payment that needs attention. */
  async payments() {
    const payment = await makePayment(own.admin);
    await own.admin.put(`/orders/${payment.order_no}`, { status: 'cancelled' });
    const paymentNo = payment.payment_no;
    await recordVerified({
      ...{ type: 'mock', period: paymentPeriod(paymentNo), paymentNo, thirdPartyNo: unique('T-') },
      ...{ fields: {}, ip: '127.0.0.1', state: 'pending', verdict: 'verified', traceId: 'test' },
    });
    return { content: paymentNo, table: 'payments', where: `payment_no = '${paymentNo}'` };
  },
};

const notices = (content: string): Promise<{ undelivered_since: Date | null }[]> =>
  select('SELECT undelivered_since FROM notifications WHERE content LIKE ?', [`%${content}%`]);

test('work whose worker is killed between commit and delivery is notified once', async (t) => {
  const queues = [...Object.keys(works), 'notifications'].join();
  const endings = await Promise.all(Object.values(works).map((begin) => begin()));
  const held = await Promise.all(
    endings.map(({ table, where }) => holding(`SELECT 1 FROM ${table} WHERE ${where} FOR UPDATE`)),
  );
  // The ends wait for the locks, then find no Redis to send their frames over.
  const patient = { DB_LOCK_WAIT_SECONDS: '60', DB_STATEMENT_SECONDS: '60', DB_BULK_SECONDS: '60' };
  const first = await startWorkerProcess({ ...quickSweeps, ...patient }, queues);
  for (const { table } of endings) await until(async () => (await lockWaits(table)) > 0, 60_000);
  await own.redis.stop('SIGKILL');
  await Promise.all(held.map((letGo) => letGo()));
  for (const { content } of endings) await until(async () => (await notices(content)).length > 0, 60_000);
  await first.kill();
  for (const { content } of endings) t.truthy((await notices(content))[0]?.undelivered_since, content);

  await own.redis.start();
  const socket = await openSocket(own.admin.url, await ticketOf(own.admin));
  await startWorkerProcess(quickSweeps, queues);
  for (const { content } of endings) {
    const frames = () =>
      socket.frames.filter(
        ({ type, data }) => type === 'notification' && String(data?.content).includes(content),
      );
    await until(() => frames().length > 0, 60_000);
    await until(async () => (await notices(content))[0]?.undelivered_since === null);
    t.deepEqual([frames().length, (await notices(content)).length], [1, 1], content);
  }
  socket.socket.close();
});
