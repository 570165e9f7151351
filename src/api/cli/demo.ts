// back-office demo: half a year of made-up data for trials, created by the service's own models with the
// clock set back.
import { randomInt } from 'node:crypto';
import { Option, type Command } from 'commander';
import { config } from '../../../config/index.js';
import { setClock } from '../../lib/values/clock.js';
import { change } from '../../lib/database/db.js';
import { languageOf, languages, type Language } from '../../lib/values/language.js';
import { Money } from '../../lib/values/money.js';
import { paymentKey } from '../../lib/values/numbers.js';
import { newUlid, randomToken } from '../../lib/secrets/random-id.js';
import { hmacHex } from '../../lib/secrets/secret-box.js';
import { readUserAgent } from '../../lib/values/user-agent.js';
import { createAdmin } from '../../models/access/admin.js';
import { createDepartment } from '../../models/access/department.js';
import { createRole } from '../../models/access/role.js';
import { Admin, Menu, Permission } from '../../models/access/tables.js';
import { writeEntries, type LogItem } from '../../models/logs/log-entries.js';
import { createDictionary } from '../../models/office/dictionary.js';
import { storeNotification } from '../../models/office/notification.js';
import { changeBalance } from '../../models/trade/balance.js';
import { recordVerified } from '../../models/trade/callback-intake.js';
import { placeOrder } from '../../models/trade/order-placement.js';
import { updateOrder } from '../../models/trade/order.js';
import { createMethod } from '../../models/trade/payment-method.js';
import { settle } from '../../models/trade/payment-settlement.js';
import { createPayment, type PaymentRecord } from '../../models/trade/payment.js';
import { BalanceLog, PaymentMethod } from '../../models/trade/tables.js';
import { createUser } from '../../models/trade/user.js';
import { does, Misuse, type Outcome } from './command.js';
import { words, type Words } from './demo-words.js';

interface Person {
  id: number;
  username: string;
}

interface Colleague extends Person {
  /** As in `staff`. */
  may: readonly string[];
}

interface Traded {
  order_no: string;
  at: number;
}

const [minuteMs, dayMs] = [60_000, 86_400_000];
const maxDays = 3650;
const secret = 'a secret for trials only';
const methodCode = 'demo_scan';
const agent = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/141.0.0.0 Safari/537.36';
const prices = ['128.00', '159.90', '89.00', '39.90', '219.00', '1299.00'];
/** What each role may do, by its slug: all about a noun, or one permission. */
const staff = {
  support: ['order', 'user', 'payment', 'export', 'import', 'payment_method.index'],
  finance: ['dashboard', 'payment', 'refund', 'export', 'user_balance_log', 'order.index', 'order.show'],
  operations: ['dashboard', 'order', 'import', 'export', 'attachment', 'user.index', 'payment.index'],
  audit: ['operation_log', 'login_log', 'system_log', 'admin.index'],
};

/** Its title as the route has it: the API translates it for the reader. */
const edit = {
  module: 'order',
  action: 'update',
  title: 'Change orders',
  method: 'PUT',
  path: '/api/admin/orders',
};

const pick = <T>(all: readonly T[]): T => all[randomInt(all.length)] as T;

export const add = {
  demo(command: Command): void {
    const locale = Intl.DateTimeFormat().resolvedOptions().locale;
    command
      .option('--days <number>', 'how far back it goes', '182')
      .addOption(
        new Option('--lang <language>', 'of names')
          .choices(languages)
          .default(languageOf(`${locale}, en;q=0.1`)),
      );
    does(command, async ({ option }) => {
      if (config.app.production)
        throw new Misuse('This makes people and orders up; it refuses to do so in production.');
      const days = Number(option('days'));
      if (!Number.isInteger(days) || days < 1 || days > maxDays)
        throw new Misuse(`--days: a whole number from 1 to ${maxDays}`);
      if ((await PaymentMethod.count({ where: { code: methodCode } })) > 0) return asMade();
      const named = words[option('lang') as Language];
      const orders = await fill(days, named).finally(() => setClock());
      return { data: { orders }, text: `made ${orders} orders and what belongs to them` };
    });
  },
};

/** What an earlier run has left; the last day is made last. */
async function asMade(): Promise<Outcome> {
  const isWhole = (await BalanceLog.count({ where: { request_id: 'demo-0' } })) > 0;
  const text = isWhole
    ? 'the data of the demo are there already'
    : 'an earlier run was interrupted; for all of the data begin with an empty database';
  return { data: { orders: 0 }, text, isBad: !isWhole };
}

async function fill(days: number, named: Words): Promise<number> {
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const owner = await Admin.findOne({ where: { username: 'admin' }, rejectOnEmpty: true });
  setClock(new Date(today - days * dayMs));
  const method = { name: named.method, code: methodCode, config: { shared_secret: secret } };
  const methodId = await createMethod({ ...method, type: 'mock' });
  const admins = await makeStaff(owner.id, named);
  const tellers = admins.filter(({ may }) => may.includes('user'));
  const users = await makeBuyers(named.buyers, today - days * dayMs);
  let made = 0;
  for (let back = days; back >= 0; back--) {
    const start = today - back * dayMs;
    // The business grows from day to day.
    const count = Math.round((4 + ((days - back) / days) * 8) * (0.8 + Math.random() * 0.4));
    const times = Array.from({ length: count }, () => start + randomInt(480, 1320) * minuteMs).sort();
    const orders: Traded[] = [];
    for (const at of times.filter((one) => one + 10 * minuteMs < Date.now()))
      orders.push({ at, order_no: await trade(at, named.products, pick(users).id, methodId, back < 2) });
    made += orders.length;
    await logDay(start, admins, orders);
    const amount = Money.from(`${randomInt(10, 500)}.00`);
    const topUp = { type: 'income', source: 'manual', description: named.topUp } as const;
    const { id: adminId, username } = pick(tellers);
    const change = { ...topUp, amount, request_id: `demo-${back}` };
    await changeBalance(pick(users).id, change, { adminId, username });
  }
  setClock();
  await fillOffice(new Date(today).toISOString().slice(0, 7), named);
  return made;
}

/** @returns administrators; they cannot sign in until somebody sets their passwords */
async function makeStaff(adminId: number, named: Words): Promise<Colleague[]> {
  const none = new Set<number>();
  const holder = { adminId, isSuperAdmin: true, permissionIds: none, menuIds: none };
  const menus = await Menu.findAll({ attributes: ['id', 'slug', 'parent_id'] });
  const permissions = await Permission.findAll({ attributes: ['id', 'slug'] });
  const made: Colleague[] = [];
  for (const [slug, nouns] of Object.entries(staff)) {
    const [name = '', ...people] = named[slug as keyof typeof staff];
    const granted = permissions.filter((one) =>
      nouns.some((noun) => one.slug === noun || one.slug.startsWith(`${noun}.`)),
    );
    const screens = nouns.map((noun) => noun.replace(/\..*/, '').replaceAll('_', '-'));
    const own = menus.filter((menu) => screens.some((one) => menu.slug === one || menu.slug === `${one}s`));
    const menu_ids = [...new Set(own.flatMap(({ id, parent_id }) => (parent_id ? [parent_id, id] : [id])))];
    const role = { name, slug, permission_ids: granted.map(({ id }) => id), menu_ids };
    const role_ids = [await createRole(holder, role)];
    const department_id = await createDepartment({ name, code: slug });
    for (const [at, nickname] of people.entries()) {
      const admin = { username: `${slug}.${at + 1}`, password: `${randomToken(18)}-Aa1`, nickname };
      const id = await createAdmin(holder, { ...admin, role_ids, department_id });
      made.push({ id, username: admin.username, may: nouns });
    }
  }
  return made;
}

async function makeBuyers(buyers: readonly string[], since: number): Promise<Person[]> {
  const made: Person[] = [];
  for (const [at, nickname] of buyers.entries()) {
    const username = `customer.${at + 1}`;
    const id = await createUser({ username, nickname, email: `${username}@example.com` });
    const created = new Date(since - (buyers.length - at) * 3_600_000);
    await change('UPDATE users SET created_at = ? WHERE id = ?', [created, id]);
    made.push({ id, username });
  }
  return made;
}

/**
 * An order and what becomes of it: most are paid, some cancelled or still open, a few payments late.
 *
 * @returns its number
 */
async function trade(
  at: number,
  products: readonly string[],
  user_id: number,
  method: number,
  isRecent: boolean,
): Promise<string> {
  setClock(new Date(at));
  const details = Array.from({ length: randomInt(1, 4) }, () => {
    const at = randomInt(products.length);
    const [product_name = '', price = ''] = [products[at], prices[at]];
    return { product_id: at + 1, product_name, price: Money.from(price), quantity: randomInt(1, 4) };
  });
  const { order_no } = await placeOrder({ user_id, details, remark: null });
  const fate = Math.random();
  if (isRecent && fate > 0.92) return order_no;
  setClock(new Date(at + 2 * minuteMs));
  const payment = await createPayment({ order_no, payment_method_id: method });
  setClock(new Date(at + 5 * minuteMs));
  // Money for a cancelled order is late: somebody has to decide about it.
  if (fate > 0.85) await updateOrder(order_no, { status: 'cancelled' });
  if (fate > 0.87) return order_no;
  const key = await recordVerified(attempt(payment));
  if (key) await settle(key);
  return order_no;
}

function attempt({ payment_no, amount }: PaymentRecord) {
  const sign = hmacHex(secret, `${payment_no}|SUCCESS|${amount.toString()}`);
  const fields = { out_trade_no: payment_no, trade_status: 'SUCCESS', sign };
  return {
    ...paymentKey(payment_no),
    third_party_no: `DEMO-${payment_no}`,
    type: 'mock',
    fields,
    ip: '198.51.100.20',
    trace_id: newUlid(),
  };
}

/** Sign-ins of a day, before its orders; then operations on these, by those who may change them. */
async function logDay(start: number, people: readonly Colleague[], orders: readonly Traded[]): Promise<void> {
  const by = ({ id, username }: Person, at: number) => {
    const ip = `198.51.100.${randomInt(2, 250)}`;
    return { admin_id: id, username, ip, user_agent: agent, created_at: new Date(at).toISOString() };
  };
  const minutes = people.map(() => randomInt(420, 480)).sort((one, other) => one - other);
  const signIns = people.map((one, at): LogItem => {
    const outcome = { status: 1, outcome: 'login_success', log_key: newUlid() };
    const when = start + (minutes[at] ?? 0) * minuteMs;
    return { kind: 'login', entry: { ...by(one, when), ...readUserAgent(agent), ...outcome } };
  });
  const clerks = people.filter(({ may }) => may.includes('order'));
  const operations = orders.slice(0, clerks.length).map(({ order_no, at }, of): LogItem => {
    const result = { status: 200, duration_ms: randomInt(8, 240), request: null, changes: null };
    const keys = { log_key: newUlid(), trace_id: newUlid(), record_key: order_no };
    const clerk = clerks[of] as Colleague;
    const entry = { ...by(clerk, at + 6 * minuteMs), ...edit, path: `${edit.path}/${order_no}` };
    return { kind: 'operation', entry: { ...entry, ...result, ...keys } };
  });
  const items = [...signIns, ...operations];
  await writeEntries(items.filter(({ entry }) => Date.parse(entry.created_at) <= Date.now()));
}

async function fillOffice(month: string, { reconciled, couriers: given }: Words): Promise<void> {
  const [courier = '', ...couriers] = given;
  const title = `${reconciled}${month}`;
  await storeNotification({ type: 'announcement', title, content: title, eventKey: `demo-${month}` });
  const parent_id = await createDictionary({ name: courier, code: 'express' });
  for (const [sort, name] of couriers.entries())
    await createDictionary({ parent_id, name, code: `express_${sort + 1}`, value: String(sort + 1), sort });
}
