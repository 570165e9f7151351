// From signing in to a paid order, a file and an export. Reads URL and SECRET from the environment, prints what it did as JSON.
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { asForm, createClient, dataOf, RequestFailed } from '../src/index.js';

const { URL: url = 'http://localhost:3000', SECRET: secret = 'a-secret-of-16-and-more' } = process.env;

let token: string | undefined;
const client = createClient({ url, language: 'en-US', zone: 'Asia/Shanghai', token: () => token });

const signedIn = await dataOf(
  client.POST('/api/admin/login', { body: { username: 'admin', password: 'admin123' } }),
);
token = signedIn.token;

const user = await dataOf(client.POST('/api/admin/users', { body: { username: `customer-${Date.now()}` } }));

const order = await dataOf(
  client.POST('/api/admin/orders', {
    params: { header: { 'Idempotency-Key': `order-of-${user.id}` } },
    body: { user_id: user.id, details: [{ product_name: '龙井茶', price: '12.90', quantity: 2 }] },
  }),
);

const method = await dataOf(
  client.POST('/api/admin/payment-methods', { body: { type: 'mock', config: { shared_secret: secret } } }),
);

const payment = await dataOf(
  client.POST('/api/admin/payments', {
    body: { order_no: order.order_no, payment_method_id: method.id, initiate: true },
  }),
);
const { gateway } = payment;
if (gateway?.type !== 'mock') throw new Error('the mock channel answered nothing to go on with');

const sign = createHmac('sha256', secret).update(`${gateway.payment_no}|SUCCESS|25.80`).digest('hex');
const callback = await dataOf(
  client.POST('/api/payment/notify/{type}', {
    params: { path: { type: 'mock' } },
    body: { out_trade_no: gateway.payment_no, trade_status: gateway.trade_status, amount: '25.80', sign },
  }),
);

const paid = await dataOf(client.GET('/api/admin/orders/{id}', { params: { path: { id: order.order_no } } }));

const file = new File(['receipt of the payment'], 'receipt.txt', { type: 'text/plain' });
const attachment = await dataOf(
  client.POST('/api/admin/attachments/upload', { body: { file }, bodySerializer: asForm }),
);
const attached = await client.GET('/api/admin/attachments/{id}/download', {
  params: { path: { id: attachment.id } },
  parseAs: 'blob',
});

const { export_id } = await dataOf(
  client.POST('/api/admin/orders/export', { body: { format: 'csv', order_no: order.order_no } }),
);
const ofExport = { params: { path: { id: export_id } } };
let exported = await dataOf(client.GET('/api/admin/exports/{id}', ofExport));
while (exported.status === 0) {
  await sleep(100);
  exported = await dataOf(client.GET('/api/admin/exports/{id}', ofExport));
}
const sheet = await client.GET('/api/admin/exports/{id}/download', { ...ofExport, parseAs: 'blob' });

const refusal = await dataOf(
  client.PUT('/api/admin/orders/{id}', {
    params: { path: { id: order.order_no } },
    body: { status: 'cancelled' },
  }),
).then(
  () => undefined,
  (error: unknown) => (error instanceof RequestFailed ? error.failure.error_code : undefined),
);

console.log(
  JSON.stringify({
    order_no: order.order_no,
    callback: callback.status,
    order: paid.status,
    attachment: await attached.data?.text(),
    sheet: await sheet.data?.text(),
    refusal,
  }),
);
