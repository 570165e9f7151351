// `npm run demo [-- --url http://…]`: walks an order to "paid" against the running service, over HTTP only.
// `npm run demo -- --fill`: fills the service with half a year of plausible data.
import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { command } from './lifetime.mjs';
import { ensureBuild } from './build.mjs';
import { holderOf } from './lock.mjs';
import { run } from './process.mjs';
import { isDatabaseConfigured, loadSettings } from './services.mjs';
import { Failure, messageOf, root, say, step } from './step.mjs';

const PAID_TIMEOUT_MS = 10_000;
/** @type {Record<string, string>} */
const HOW_TO_SWITCH_ON = {
  module_payments_disabled: 'Set MODULE_PAYMENTS_ENABLED=true and start the service again.',
  module_orders_disabled: 'Set MODULE_ORDERS_ENABLED=true and start the service again.',
  payment_gateway_disabled:
    'Add mock to PAYMENT_GATEWAYS_ENABLED, or leave it empty, and start the service again.',
};

/** A record of an answer, of which the walk shows and passes on what it needs. @typedef {Record<string, any>} Fields */

command(async () => {
  process.chdir(root);
  loadSettings();
  if (process.argv.includes('--fill')) return fill();
  const url = await addressOfService();
  say(`Walking an order to "paid" at ${url}`);
  const secret = randomBytes(16).toString('hex');
  const name = `demo_${randomBytes(4).toString('hex')}`;
  let token = '';
  const get = (/** @type {string} */ route) => call(url, token, 'GET', route);
  const post = (/** @type {string} */ route, /** @type {Fields} */ body) =>
    call(url, token, 'POST', route, body);
  /** @type {Fields} */
  const made = {};

  await step(async () => {
    const password = process.env.ADMIN_PASSWORD || 'admin123';
    const session = await post('/api/admin/login', { username: 'admin', password });
    token = session.token;
    return `signed in as ${session.admin.username}, until ${session.expires_at}`;
  });
  await step(async () => {
    const fields = { username: name, password: `${name}-Aa1`, nickname: 'Demo' };
    made.user = await post('/api/admin/users', fields);
    return `user ${name} created, id ${made.user.id}`;
  });
  await step(async () => {
    const details = [
      { product_id: 1, product_name: 'Notebook', price: 19.9, quantity: 2 },
      { product_id: 2, product_name: 'Pencil', price: 5.05, quantity: 1 },
    ];
    made.order = await post('/api/admin/orders', { user_id: made.user.id, details });
    return `order ${made.order.order_no} created, ${money(made.order.amount)}, ${made.order.status}`;
  });
  await step(async () => {
    made.method = await post('/api/admin/payment-methods', { type: 'mock', name, shared_secret: secret });
    return `payment method "${name}" with a shared secret created, id ${made.method.id}`;
  });
  await step(async () => {
    const { order, method } = made;
    const fields = { order_no: order.order_no, payment_method_id: method.id, initiate: true };
    made.payment = await post('/api/admin/payments', fields);
    return `payment ${made.payment.payment_no} created and placed, ${made.payment.status}`;
  });
  const { order, payment } = made;
  await step(async () => {
    const signed = `${payment.payment_no}|SUCCESS|${money(payment.amount)}`;
    const sign = createHmac('sha256', secret).update(signed).digest('hex');
    // The channel knows its callback address; with tenants its path has one more segment.
    const notifyUrl = payment.gateway?.notify_url;
    const route = notifyUrl ? new URL(notifyUrl).pathname : '/api/payment/notify/mock';
    const callback = { out_trade_no: payment.payment_no, trade_status: 'SUCCESS', sign };
    return `signed callback accepted, ${(await post(route, callback)).status}`;
  });
  await step(async () => {
    const deadline = Date.now() + PAID_TIMEOUT_MS;
    for (;;) {
      const records = [`orders/${order.order_no}`, `payments/${payment.payment_no}`];
      const states = await Promise.all(
        records.map(async (record) => (await get(`/api/admin/${record}`)).status),
      );
      if (states.every((state) => state === 'paid')) return 'order and payment are paid';
      if (Date.now() > deadline)
        throw new Failure(`after ${PAID_TIMEOUT_MS / 1000} s order and payment are ${states.join(' and ')}`);
      await sleep(100);
    }
  });
  return 0;
});

// Uses the configured database, else that of the running `npm start`.
async function fill() {
  const holder = await holderOf('run');
  if (!isDatabaseConfigured() && !holder?.servers)
    throw new Failure('The service does not run here. Start it first: npm start');
  await step(ensureBuild);
  const env = { MODULE_PAYMENTS_ENABLED: 'true', LOG_LEVEL: 'error', ...process.env, ...holder?.servers };
  await step(async () =>
    (
      await run(process.execPath, ['build/src/api/demo/main.js', ...process.argv.slice(2)], {
        name: 'filling',
        env,
      })
    ).trim(),
  );
  return 0;
}

/**
 * Calls the running service as any client does.
 *
 * @param {string} url
 * @param {string} token
 * @param {string} method
 * @param {string} route
 * @param {Fields} [body]
 * @returns {Promise<Fields>} the `data` of its answer
 */
async function call(url, token, method, route, body) {
  const headers = {
    'Accept-Language': 'en-US',
    'Content-Type': 'application/json',
    ...(token && { Authorization: `Bearer ${token}` }),
  };
  const signal = AbortSignal.timeout(PAID_TIMEOUT_MS);
  const options = { method, headers, body: body && JSON.stringify(body), signal };
  const response = await fetch(url + route, options).catch((error) => {
    const reason = error.cause?.code ?? messageOf(error);
    throw new Failure(`Nothing answers at ${url} (${reason}). Start the service first: npm start`);
  });
  const envelope = /** @type {Fields} */ (await response.json().catch(() => ({})));
  if (response.ok && envelope.code === 200) return envelope.data;
  const { message, error_code: slug, errors, trace_id: traceId } = envelope;
  const answered = `${method} ${route} was answered with ${response.status}`;
  if (!message) throw new Failure(`${answered}, and not by this service`);
  const details = [errors && JSON.stringify(errors), HOW_TO_SWITCH_ON[slug]].filter(Boolean);
  throw new Failure([`${answered} ${slug ?? ''}: ${message} (trace_id ${traceId})`, ...details].join('\n  '));
}

async function addressOfService() {
  const position = process.argv.indexOf('--url');
  const given = position > 0 ? process.argv[position + 1] : process.env.APP_URL;
  const address = given || (await holderOf('run'))?.address || 'http://127.0.0.1:3000';
  if (URL.canParse(address)) return address.replace(/\/+$/, '');
  throw new Failure(`${address} is not an address; say --url http://127.0.0.1:3000`);
}

/** @param {number} amount */
function money(amount) {
  return Number(amount).toFixed(2);
}
