// `npm run demo [-- --url http://…]`: walks an order to "paid" against the running service, over HTTP only.
import { createHmac, randomBytes } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { command } from './lifetime.mjs';
import { localHome } from './local-home.mjs';
import { readLock } from './lock.mjs';
import { loadSettings } from './services.mjs';
import { Failure, say, step } from './step.mjs';

const PAID_TIMEOUT_MS = 10_000;
const HOW_TO_SWITCH_ON = {
  module_payments_disabled: 'Set MODULE_PAYMENTS_ENABLED=true and start the service again.',
  module_orders_disabled: 'Set MODULE_ORDERS_ENABLED=true and start the service again.',
  payment_gateway_disabled:
    'Add mock to PAYMENT_GATEWAYS_ENABLED, or leave it empty, and start the service again.',
};

async function main() {
  loadSettings();
  const service = new Service(addressOfService());
  say(`Walking an order to "paid" at ${service.url}`);
  const sharedSecret = randomBytes(16).toString('hex');
  const mark = randomBytes(4).toString('hex');
  let user, order, method, payment;

  await step(async () => {
    const password = process.env.ADMIN_PASSWORD || 'admin123';
    const session = await service.post('/api/admin/login', { username: 'admin', password });
    service.token = session.token;
    return `signed in as ${session.admin.username}, until ${session.expires_at}`;
  });
  await step(async () => {
    const password = `Demo-${mark}-1`;
    user = await service.post('/api/admin/users', { username: `demo_${mark}`, password, nickname: 'Demo' });
    return `user ${user.username} created, id ${user.id}`;
  });
  await step(async () => {
    const details = [
      { product_id: 1, product_name: 'Notebook', price: 19.9, quantity: 2 },
      { product_id: 2, product_name: 'Pencil', price: 5.05, quantity: 1 },
    ];
    order = await service.post('/api/admin/orders', { user_id: user.id, details });
    return `order ${order.order_no} created, ${money(order.amount)}, ${order.status}`;
  });
  await step(async () => {
    const wanted = { type: 'mock', name: `Demo ${mark}`, shared_secret: sharedSecret };
    method = await service.post('/api/admin/payment-methods', wanted);
    return `payment method "${method.name}" with a shared secret created, id ${method.id}`;
  });
  await step(async () => {
    const wanted = { order_no: order.order_no, payment_method_id: method.id, initiate: true };
    payment = await service.post('/api/admin/payments', wanted);
    return `payment ${payment.payment_no} created and placed, ${payment.status}`;
  });
  await step(async () => {
    const callback = { out_trade_no: payment.payment_no, trade_status: 'SUCCESS' };
    const text = `${payment.payment_no}|SUCCESS|${money(payment.amount)}`;
    const sign = createHmac('sha256', sharedSecret).update(text).digest('hex');
    const answer = await service.post(callbackPath(payment), { ...callback, sign });
    return `signed callback accepted, ${answer.status}`;
  });
  await step(async () => {
    await untilPaid(service, order, payment);
    return `order and payment are paid`;
  });
  return 0;
}

/** The running service, as any client sees it. */
class Service {
  token;

  constructor(url) {
    this.url = url;
  }

  get(route) {
    return this.#call('GET', route);
  }

  post(route, body) {
    return this.#call('POST', route, body);
  }

  async #call(method, route, body) {
    const headers = { 'Accept-Language': 'en-US', 'Content-Type': 'application/json' };
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    const response = await this.#fetch(route, { method, headers, body: body && JSON.stringify(body) });
    const envelope = await response.json().catch(() => undefined);
    if (response.ok && envelope?.code === 200) return envelope.data;
    throw new Failure(explain(`${method} ${route}`, response.status, envelope));
  }

  async #fetch(route, options) {
    try {
      return await fetch(this.url + route, { ...options, signal: AbortSignal.timeout(PAID_TIMEOUT_MS) });
    } catch (error) {
      const reason = error.cause?.code ?? error.message;
      throw new Failure(`Nothing answers at ${this.url} (${reason}). Start the service first: npm start`);
    }
  }
}

function addressOfService() {
  const position = process.argv.indexOf('--url');
  const given = position > 0 ? process.argv[position + 1] : process.env.APP_URL;
  const address = given || readLock(path.join(localHome, 'run.json'))?.address || 'http://127.0.0.1:3000';
  if (!URL.canParse(address))
    throw new Failure(`${address} is not an address; say --url http://127.0.0.1:3000`);
  return address.replace(/\/+$/, '');
}

function explain(request, status, envelope) {
  if (!envelope?.message) return `${request} was answered with ${status}, and not by this service`;
  const { message, error_code: slug, errors, trace_id: traceId } = envelope;
  const lines = [`${request} was answered with ${status} ${slug ?? ''}: ${message} (trace_id ${traceId})`];
  if (errors) lines.push(`  ${JSON.stringify(errors)}`);
  if (HOW_TO_SWITCH_ON[slug]) lines.push(`  ${HOW_TO_SWITCH_ON[slug]}`);
  return lines.join('\n');
}

// The channel is told where to call back; with tenants that path has one more segment.
function callbackPath(payment) {
  const url = payment.gateway?.notify_url;
  return url ? new URL(url).pathname : '/api/payment/notify/mock';
}

async function untilPaid(service, order, payment) {
  const deadline = Date.now() + PAID_TIMEOUT_MS;
  for (;;) {
    const [{ status: orderStatus }, { status: paymentStatus }] = await Promise.all([
      service.get(`/api/admin/orders/${order.order_no}`),
      service.get(`/api/admin/payments/${payment.payment_no}`),
    ]);
    if (orderStatus === 'paid' && paymentStatus === 'paid') return;
    if (Date.now() > deadline) {
      throw new Failure(
        `after ${PAID_TIMEOUT_MS / 1000} s the order is ${orderStatus}, the payment ${paymentStatus}`,
      );
    }
    await sleep(100);
  }
}

function money(amount) {
  return Number(amount).toFixed(2);
}

command(main, () => 130);
