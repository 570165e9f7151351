// Orders of a day and their payments: most paid at once, some never, a few need attention.
import { setClock } from '../../lib/clock.js';
import { hmacHex } from '../../lib/secrets/secret-box.js';
import { Money } from '../../lib/money.js';
import { newUlid } from '../../lib/secrets/random-id.js';
import { updateOrder } from '../../models/trade/order.js';
import type { OrderRecord } from '../../models/trade/order-record.js';
import { placeOrder } from '../../models/trade/order-placement.js';
import { recordUnproven, recordVerified } from '../../models/trade/callback-intake.js';
import { flagForAttention } from '../../models/trade/payment-attention.js';
import { createMethod } from '../../models/trade/payment-method.js';
import { settle } from '../../models/trade/payment-settlement.js';
import { createPayment, type PaymentRecord } from '../../models/trade/payment.js';
import { PaymentMethod } from '../../models/trade/tables.js';
import type { Chance } from './chance.js';
import type { Person } from './people.js';
import { products, remarks } from './words.js';

const secret = 'a secret for trials only';
const minuteMs = 60_000;

/** How an order goes on. */
type Fate = 'paid' | 'cancelled' | 'waiting' | 'late' | 'refused';

/** Methods that need no account with a company. @returns their ids */
export async function fillMethods(): Promise<number[]> {
  const wanted = [
    { name: '扫码支付（演示）', code: 'demo_scan', sort: 1 },
    { name: '网页支付（演示）', code: 'demo_page', sort: 2 },
  ];
  const ids: number[] = [];
  for (const fields of wanted) {
    const known = await PaymentMethod.findOne({ where: { code: fields.code }, attributes: ['id'] });
    ids.push(
      known?.id ?? (await createMethod({ ...fields, type: 'mock', config: { shared_secret: secret } })),
    );
  }
  return ids;
}

export interface Day {
  /** Its first moment. */
  start: Date;
  /** Orders may not be placed after it. */
  end: Date;
  chance: Chance;
  orders: number;
  buyers: readonly Person[];
  methods: readonly number[];
}

/** Places the orders of a day in some hours of it. The clock of this process goes along; the caller sets it right again. */
export async function fillTrade(day: Day): Promise<void> {
  const hours = [8, 10, 12, 15, 18, 20, 22];
  for (const [at, hour] of hours.entries()) {
    const start = new Date(day.start.getTime() + (hour * 60 + day.chance.between(0, 50)) * minuteMs);
    if (start.getTime() + 30 * minuteMs > day.end.getTime()) return;
    const count = Math.floor(day.orders / hours.length) + (at < day.orders % hours.length ? 1 : 0);
    await fillHour(day, start, count);
  }
}

async function fillHour(day: Day, start: Date, count: number): Promise<void> {
  const { chance } = day;
  setClock(start);
  const orders = await Promise.all(
    Array.from({ length: count }, async () => ({ fate: fateOf(chance, day), order: await order(day) })),
  );
  setClock(new Date(start.getTime() + 2 * minuteMs));
  const attempts = await Promise.all(
    orders
      .filter(({ fate }) => fate !== 'waiting' || chance.happens(0.6))
      .map(async (one) => ({ ...one, payment: await pay(one.order, day) })),
  );
  setClock(new Date(start.getTime() + 5 * minuteMs));
  await Promise.all(attempts.map(({ fate, order, payment }) => finish(fate, order, payment)));
}

// Pending orders expire; only those of the latest days are still pending.
function fateOf(chance: Chance, { end, start }: Day): Fate {
  const isRecent = Date.now() - start.getTime() < 2 * 24 * 60 * minuteMs || end.getTime() >= Date.now();
  const roll = chance.next();
  if (roll < 0.84) return 'paid';
  if (roll < 0.86) return 'late';
  if (roll < 0.88) return 'refused';
  return isRecent && roll < 0.96 ? 'waiting' : 'cancelled';
}

function order({ chance, buyers }: Day): Promise<OrderRecord> {
  const details = Array.from({ length: chance.between(1, 3) }, () => {
    const [product_name, price] = chance.pick(products);
    const id = products.findIndex(([name]) => name === product_name) + 1;
    return { product_id: id, product_name, price: Money.from(price), quantity: chance.between(1, 3) };
  });
  const remark = chance.happens(0.15) ? chance.pick(remarks) : null;
  return placeOrder({ user_id: chance.pick(buyers).id, details, remark });
}

const pay = (of: OrderRecord, { chance, methods }: Day): Promise<PaymentRecord> =>
  createPayment({ order_no: of.order_no, payment_method_id: chance.pick(methods) });

async function finish(fate: Fate, of: OrderRecord, payment: PaymentRecord): Promise<void> {
  if (fate === 'waiting') return;
  if (fate === 'refused') await refuse(payment);
  if (fate === 'cancelled' || fate === 'late' || fate === 'refused')
    await updateOrder(of.order_no, { status: 'cancelled' });
  if (fate === 'paid' || fate === 'late') await callBack(payment);
}

function attemptFor({ payment_no, amount }: PaymentRecord) {
  const sign = hmacHex(secret, `${payment_no}|SUCCESS|${amount.toString()}`);
  return {
    type: 'mock',
    period: undefined,
    paymentNo: payment_no,
    thirdPartyNo: `DEMO-${payment_no}`,
    fields: { out_trade_no: payment_no, trade_status: 'SUCCESS', sign },
    ip: '198.51.100.20',
    traceId: newUlid(),
  };
}

async function callBack(payment: PaymentRecord): Promise<void> {
  const period = periodOf(payment);
  const key = await recordVerified({ ...attemptFor(payment), period, state: 'pending', verdict: 'verified' });
  if (key) await settle(key);
}

async function refuse(payment: PaymentRecord): Promise<void> {
  const attempt = { ...attemptFor(payment), period: periodOf(payment), state: 'refused' as const };
  await recordUnproven({ ...attempt, verdict: 'payment_amount_mismatch' });
  await flagForAttention(payment.payment_no, 'payment_amount_mismatch');
}

const periodOf = ({ payment_no }: PaymentRecord): number => Number(payment_no.slice(3, 9));
