// POST /orders/import and /imports: what a file of orders becomes, and what is said about the rest of it.
import '../support/environment.js';
import test from 'ava';
import { select } from '../../src/lib/db.js';
import type { Answer, Client } from '../support/client.js';
import { makeUser, signedInWith, unique } from '../support/factories.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

let service: Service;
let admin: Client;
let english: Client;
let userId: number;

test.before(async () => {
  service = await startService();
  admin = service.admin;
  english = admin.with({ 'Accept-Language': 'en-US' });
  userId = (await makeUser(admin)).id;
});

test.after.always(() => service.stop());

const head = 'user_id,amount,remark,order_ref,product_id,product_name,price,quantity';

/** Sends a file and waits for the end of its import. */
async function imported(
  content: string | Uint8Array,
  fields: Record<string, string> = {},
  caller = english,
): Promise<Answer> {
  const answer = await caller.upload('/orders/import', content, { filename: 'orders.csv', fields });
  if (answer.status === 200) t200(answer);
  return answer;
}

function t200({ data, text }: Answer): void {
  if (data.status === 0) throw new Error(`the import did not end in time: ${text}`);
}

const send = (rows: string[], fields?: Record<string, string>, caller?: Client) =>
  imported([head, ...rows].join('\r\n'), fields, caller);

/** The orders of a user as [amount, remark, lines], in the order they were made. */
async function ordersOf(user: number): Promise<[string, string | null, string][]> {
  const rows = await select<{ amount: string; remark: string | null; line: string }>(
    `SELECT o.amount, o.remark, GROUP_CONCAT(CONCAT_WS('|', d.product_id, d.product_name, d.price, d.quantity, d.subtotal)
       ORDER BY d.id SEPARATOR ';') AS line
     FROM orders o JOIN order_details d ON d.order_no = o.order_no AND d.period = o.period
     WHERE o.user_id = ? GROUP BY o.id, o.amount, o.remark ORDER BY o.id`,
    [user],
  );
  return rows.map(({ amount, remark, line }) => [amount, remark, line]);
}

const newUser = async (): Promise<number> => (await makeUser(admin)).id;

test('rows become pending orders, as POST /orders would have made them', async (t) => {
  const user = await newUser();
  const answer = await send([
    `${user},,first,,7,Tea,12.30,3`,
    `${user},5.00,,A,,Cup,2.5,2`,
    `${user},9.99,only an amount,,,,,`,
    ``,
    `${user},,,,,"A ""quoted"",
name",1,`,
  ]);
  t.deepEqual([answer.status, answer.data.status, answer.data.error_msg], [200, 1, null]);
  t.like(answer.data, { total_rows: 4, success_count: 4, failed_count: 0, order_count: 4, errors: [] });
  t.deepEqual(await ordersOf(user), [
    ['36.90', 'first', '7|Tea|12.30|3|36.90'],
    ['5.00', null, 'Cup|2.50|2|5.00'],
    ['9.99', 'only an amount', 'Imported order|9.99|1|9.99'],
    ['1.00', null, 'A "quoted",\nname|1.00|1|1.00'],
  ]);
  const { data } = await admin.get(`/orders?user_id=${user}`);
  t.is(data.total, 4);
  t.regex(data.list[0].order_no, /^ORD\d{6}[0-9A-HJKMNP-TV-Z]{26}$/);
  t.like(data.list[0], { status: 'pending', expire_at: null, paid_at: null });
});
