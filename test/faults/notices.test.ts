// The database unavailable while WeChat and Alipay report money: no acknowledgement, and their retries pay once (R1, R8).
import '../support/environment.js';
import '../support/local-gateways.js';
import '../support/open-results.js';
import test from 'ava';
import { Client } from '../support/client.js';
import { companiesTest, types, type Type } from '../support/companies.js';
import { startOwnDatabase, type OwnDatabase } from '../support/database.js';
import { deliver, type Notice, type NoticeAnswer } from '../support/notices.js';
import { killProcesses, startApi, startWorkerProcess, type TestProcess } from '../support/processes.js';
import { until } from '../support/until.js';

let database: OwnDatabase;
let api: TestProcess;
let admin: Client;

test.serial.before(async () => {
  database = await startOwnDatabase();
  [api] = await Promise.all([startApi(database.env), startWorkerProcess(database.env)]);
  admin = await new Client(api.url).signIn();
});

const companies = companiesTest({
  get admin() {
    return admin;
  },
});

test.after.always(async () => {
  await killProcesses();
  await database.remove();
});

interface Waiting {
  paymentNo: string;
  notice: Notice;
}

async function place(type: Type, count: number): Promise<Waiting[]> {
  const waiting: Waiting[] = [];
  for (let made = 0; made < count; made++) {
    const payment = await companies.place(type);
    waiting.push({ paymentNo: payment.payment_no, notice: companies.noticeOf(type, payment) });
  }
  return waiting;
}

const verdictsOf = (paymentNo: string) =>
  database.select<object>(
    `SELECT p.status, o.status AS order_status,
       (SELECT COUNT(*) FROM payment_callbacks c WHERE c.payment_no = p.payment_no AND c.verdict = 'paid') AS paid_verdicts
     FROM payments p JOIN orders o ON o.order_no = p.order_no WHERE p.payment_no = ?`,
    [paymentNo],
  );

for (const type of types) {
  const send = async ({ notice }: Waiting): Promise<NoticeAnswer> =>
    (await deliver(`${api.url}/api/payment/notify/${type}`, notice))[0] as NoticeAnswer;

  test.serial(
    `${type}: a notice is answered 503 while the database is away, and pays once later`,
    async (t) => {
      const waiting = await place(type, 4);
      await database.stop();
      for (const { status, slug } of await Promise.all([...waiting, ...waiting].map(send)))
        t.deepEqual([status, slug], [503, 'database_unavailable']);
      await database.start();
      for (const one of waiting) {
        await until(async () => [200, 204].includes((await send(one)).status), 30_000, 200);
        await until(async () => JSON.stringify(await verdictsOf(one.paymentNo)).includes('"paid"'), 30_000);
        t.deepEqual(await verdictsOf(one.paymentNo), [
          { status: 'paid', order_status: 'paid', paid_verdicts: 1 },
        ]);
      }
    },
  );
}
