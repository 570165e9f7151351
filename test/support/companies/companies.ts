// Both payment companies with a method each, for tests of queries and refunds.
import test from 'ava';
import { change } from '../../../src/lib/database/db.js';
import { runRefund } from '../../../src/models/trade/refund-run.js';
import { trace } from '../callbacks.js';
import { AlipayPlatform, type NoticeForm } from './alipay-platform.js';
import { makeCompanyMethod, makeOrder, placePayment, type MadePayment } from '../factories.js';
import { deliver, type Notice, type NoticeAnswer } from './notices.js';
import { refundRow, type RefundRow } from '../refunds.js';
import type { Service } from '../service.js';
import { WechatPlatform } from './wechat-platform.js';

export interface Placed extends MadePayment {
  payment_method_id: number;
  created_at: string;
  gateway: { pay_url: string };
}

interface Placing {
  /** By default the first one, which both companies have. */
  methodId?: number | undefined;
  expire_in_seconds?: number;
  isOpened?: boolean;
  /** The company is asked about it unless this is false. */
  isFollowed?: boolean;
}

interface Companies {
  wechat: WechatPlatform;
  alipay: AlipayPlatform;
  /** A method with the configuration of its company, changed by `more`. @returns its id */
  newMethod: (type: Type, more?: Record<string, string>) => Promise<number>;
  /** Places a payment with a company; at Alipay the customer has opened it unless stated otherwise. */
  place: (type: Type, more?: Placing) => Promise<Placed>;
  /** The customer pays, and no callback is sent. @returns the company's number */
  pay: (type: Type, payment: Placed) => string;
  /** A payment that the customer has paid at its company. */
  paid: (type: Type) => Promise<Placed>;
  /** The notice of a paid payment; fields of either company may be changed in it. */
  noticeOf: (type: Type, payment: Placed, more?: object) => Notice;
  /** Sends a notice to the service. */
  send: (type: Type, notice: Notice) => Promise<NoticeAnswer>;
  /** The payment as an administrator sees it. */
  shown: (payment: MadePayment) => Promise<any>;
  /** What callbacks have changed. */
  trace: (payment: MadePayment) => ReturnType<typeof trace>;
}

export type Type = 'wechat' | 'alipay';

export const types: Type[] = ['wechat', 'alipay'];

/** Makes followed payments due. */
export const makeDue = (...payments: MadePayment[]): Promise<number> =>
  change('UPDATE payment_follow_ups SET due_at = created_at WHERE payment_no IN (?)', [
    payments.map(({ payment_no }) => payment_no),
  ]);

/** Runs a refund as a worker does that finds it due. @returns its row afterwards */
export async function runDue(refundNo: string): Promise<RefundRow> {
  // Not earlier: a sweeper would queue it as well.
  await change('UPDATE refunds SET due_at = NOW(3) WHERE refund_no = ?', [refundNo]);
  await runRefund(refundNo, AbortSignal.timeout(5000));
  return refundRow(refundNo);
}

/** Makes a payment and its order older: the clocks of the companies, which sign, are those of this machine. */
export async function growOlder({ payment_no, order_no }: MadePayment, minutes: number): Promise<void> {
  const earlier = (...columns: string[]): string =>
    columns.map((name) => `${name} = ${name} - INTERVAL ${minutes} MINUTE`).join(', ');
  const times = earlier('created_at', 'due_at', 'last_asked_at', 'closing_at', 'expire_at', 'until_at');
  await change(`UPDATE payment_follow_ups SET ${times} WHERE payment_no = ?`, [payment_no]);
  await change(`UPDATE orders SET ${earlier('expire_at')} WHERE order_no = ?`, [order_no]);
}

/** Declares the companies of a test file. */
export function companiesTest(service: Pick<Service, 'admin'>): Companies {
  const ids = {} as Record<Type, number>;
  const own = {
    async newMethod(type, more) {
      const company = type === 'wechat' ? own.wechat.config : own.alipay.resultConfig;
      return (await makeCompanyMethod(service.admin, type, { ...company, ...more })).id;
    },
    async place(type, { methodId = ids[type], isOpened = true, isFollowed = true, ...more } = {}) {
      const order = await makeOrder(service.admin, '69.00', more);
      const { data, text } = await placePayment(service.admin, order, methodId);
      if (!data) throw new Error(text);
      if (type === 'alipay' && isOpened) own.alipay.open(data.gateway.pay_url);
      if (!isFollowed) await change('DELETE FROM payment_follow_ups WHERE payment_no = ?', [data.payment_no]);
      return data;
    },
    async paid(type) {
      const payment = await own.place(type);
      own.pay(type, payment);
      const { data, text } = await service.admin.post(`/payments/${payment.payment_no}/query`);
      if (data?.status !== 'paid') throw new Error(text);
      return payment;
    },
    noticeOf(type, { payment_no, gateway }, more = {}) {
      const { wechat, alipay } = own;
      if (type === 'wechat') return wechat.notice(wechat.paid(payment_no, more));
      return alipay.notice(alipay.paid(gateway.pay_url, more as NoticeForm));
    },
    pay: (type, { payment_no }) => own[type].ledger.pay(payment_no),
    send: async (type, notice) =>
      (await deliver(`${service.admin.url}/api/payment/notify/${type}`, notice))[0] as NoticeAnswer,
    trace: (payment) => trace(service.admin, payment),
    shown: async ({ payment_no }) => (await service.admin.get(`/payments/${payment_no}`)).data,
  } as Companies;

  test.serial.before(async () => {
    own.wechat = await WechatPlatform.start();
    own.alipay = await AlipayPlatform.start();
    for (const type of types) ids[type] = await own.newMethod(type);
  });

  test.afterEach.always(() => {
    for (const type of types) own[type].reset();
  });

  test.after.always(() => {
    for (const type of types) own[type]?.stop();
  });
  return own;
}
