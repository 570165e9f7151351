// What every payment channel must do, for any company. One call per channel declares the tests;
// they run in sequence, because they make its company fail in between.
import test from 'ava';
import { select } from '../../src/lib/database/db.js';
import { outcome } from './client.js';
import { makeOrder, type MadePayment } from './factories.js';
import type { Service } from './service.js';
import { until } from './until.js';

export interface ChannelSample {
  type: string;
  /** A complete configuration; read when the tests run. */
  config: () => Record<string, string>;
  required: string[];
  secret: string[];
  /** Keys of `gateway` in the answer to a placed payment. */
  placed: string[];
  /** Where the company is to call back for that payment. */
  notifyUrl: (gateway: Record<string, string>) => string | undefined;
  /** Body of a success callback, for a channel that reads them. */
  callback?: (payment: MadePayment) => object;
  /** Makes the company fail until the returned function is called. */
  breakDown?: () => () => void;
}

/** Declares the tests of a channel. */
export function channelContract(service: Omit<Service, 'stop'>, sample: ChannelSample): void {
  const { type, required, secret } = sample;

  const makeMethod = async (more: Record<string, string> = {}) => {
    const { data } = await service.admin.post('/payment-methods', {
      type,
      config: { ...sample.config(), ...more },
    });
    return data as { id: number; config: Record<string, string> };
  };
  const place = async (methodId: number, headers?: Record<string, string>, orderNo?: string) => {
    const order_no = orderNo ?? (await makeOrder(service.admin)).order_no;
    const body = { order_no, payment_method_id: methodId, initiate: true };
    return service.admin.post('/payments', body, headers);
  };
  const shown = async (payment: MadePayment) =>
    (await service.admin.get(`/payments/${payment.payment_no}`)).data;

  test.serial(`${type}: is offered`, async (t) => {
    const { data } = await service.admin.get('/info');
    t.true(data.config.payment_gateways.includes(type));
  });

  test.serial(`${type}: a method accepts only its own keys`, async (t) => {
    const { admin } = service;
    const config = sample.config();
    for (const name of required) {
      const refused = await admin.post('/payment-methods', { type, config: { ...config, [name]: '' } });
      t.deepEqual([refused.status, Object.keys(refused.errors ?? {})], [400, [`config.${name}`]]);
    }
    const unknown = await admin.post('/payment-methods', { type, config: { ...config, typo: 'x' } });
    t.deepEqual([unknown.status, Object.keys(unknown.errors ?? {})], [422, ['config.typo']]);
    const made = await makeMethod();
    for (const [name, value] of Object.entries(config)) {
      t.is(made.config[name], secret.includes(name) ? '***' : value, name);
    }
    const [row] = await select<{ config: string; secrets: string }>(
      'SELECT config, secrets FROM payment_methods WHERE id = ?',
      [made.id],
    );
    t.deepEqual(
      Object.keys(JSON.parse(row?.secrets ?? '')).sort(),
      secret.filter((name) => config[name]).sort(),
    );
    for (const name of secret) t.false(JSON.stringify(row).includes(config[name] ?? '-'), name);
  });

  test.serial(`${type}: placing returns how the client continues`, async (t) => {
    const { id } = await makeMethod();
    const { status, data } = await place(id);
    t.is(status, 200);
    t.deepEqual(Object.keys(data.gateway).sort(), ['type', ...sample.placed].sort());
    t.is(data.gateway.payment_no, data.payment_no);
    t.like(await shown(data), { status: 'pending', fail_reason: null, needs_attention: false });
    t.is((await service.admin.get(`/orders/${data.order_no}`)).data.status, 'pending');
  });

  test.serial(`${type}: placing sends the configured notify URL`, async (t) => {
    const [byDefault, own] = [await makeMethod(), await makeMethod({ notify_url: 'https://shop.test/n' })];
    const first = await place(byDefault.id);
    t.is(sample.notifyUrl(first.data.gateway), `https://back-office.test/api/payment/notify/${type}`);
    t.is(sample.notifyUrl((await place(own.id)).data.gateway), 'https://shop.test/n');
  });

  test.serial(`${type}: a callback pays or is stored with a 501`, async (t) => {
    const { data } = await place((await makeMethod()).id);
    const path = `//api/payment/notify/${type}`;
    const body = sample.callback?.(data) ?? { out_trade_no: data.payment_no, trade_status: 'SUCCESS' };
    const answer = await service.anonymous.post(path, body);
    const query = await service.admin.post(`/payments/${data.payment_no}/query`);
    const { status, callbacks } = await shown(data);
    const verdicts = callbacks.map(({ verdict }: { verdict: string }) => verdict);
    const expected = sample.callback
      ? [200, 200, 'paid', 'paid']
      : [501, 501, 'pending', 'payment_gateway_not_implemented'];
    t.deepEqual([answer.status, query.status, status, ...verdicts], expected);
  });

  const { breakDown } = sample;
  if (!breakDown) return;
  test.serial(`${type}: a payment the channel refused can be placed again`, async (t) => {
    const { id } = await makeMethod();
    const { order_no } = await makeOrder(service.admin);
    const headers = { 'Idempotency-Key': `${type}-${order_no}` };
    const repair = breakDown();
    const failed = await place(id, headers, order_no);
    t.deepEqual(outcome(failed), [502, 50005, 'third_party_error']);
    // The entry committed with the payment; the outcome of the request is stored afterwards.
    const traceId = failed.headers.get('X-Trace-Id') as string;
    const end = `SELECT status FROM operation_logs WHERE trace_id = ? AND status <> 200`;
    const [entry] = await until(async () => {
      const found = await select<{ status: number }>(end, [traceId]);
      return found.length > 0 ? found : undefined;
    });
    t.is(entry?.status, 502);
    const [row] = await select<MadePayment & { fail_reason: string; status: string }>(
      'SELECT payment_no, status, fail_reason FROM payments WHERE order_no = ?',
      [order_no],
    );
    t.is(row?.status, 'pending');
    // Stored in both languages; answered in that of the request.
    const answered = /^第三方服务异常：(.+)$/.exec(failed.message)?.[1] ?? failed.message;
    t.true(row?.fail_reason.split(' / ').includes(answered), row?.fail_reason);
    repair();
    const again = await place(id, headers, order_no);
    t.is(again.data.payment_no, row?.payment_no, 'the same payment under the same key');
    t.like(again.data, { fail_reason: null, gateway: { payment_no: row?.payment_no } });
    const other = await place(id, undefined, order_no);
    t.is(other.status, 200, 'or a new one');
    t.not(other.data.payment_no, row?.payment_no);
  });
}
