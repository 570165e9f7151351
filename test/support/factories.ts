// Records for tests, made through the API as an administrator would make them.
import { newPaymentNumber } from '../../src/lib/values/numbers.js';
import { createHmac, randomBytes } from 'node:crypto';
import type { Answer, Client } from './client.js';

/** A unique text. */
export const unique = (prefix = 'x'): string => `${prefix}${randomBytes(5).toString('hex')}`;

async function made<T>(answer: Promise<{ status: number; data: unknown; text: string }>): Promise<T> {
  const { status, data, text } = await answer;
  if (status !== 200) throw new Error(`a factory was refused: ${text}`);
  return data as T;
}

export interface Made {
  id: number;
}

/** The id of a permission row by its slug. */
export async function permissionId(admin: Client, slug: string): Promise<number> {
  const { list } = await made<{ list: { id: number; slug: string }[] }>(
    admin.get(`/permissions?slug=${slug}&page_size=100`),
  );
  const found = list.find((permission) => permission.slug === slug);
  if (!found) throw new Error(`there is no permission ${slug}`);
  return found.id;
}

/** A role with the permissions of these slugs. */
export async function makeRole(
  admin: Client,
  slugs: string[] = [],
  more: object = {},
): Promise<Made & { slug: string }> {
  const permission_ids = await Promise.all(slugs.map((slug) => permissionId(admin, slug)));
  return made(
    admin.post('/roles', { name: unique('role '), slug: unique('role-'), permission_ids, ...more }),
  );
}

export interface MadeAdmin extends Made {
  username: string;
  password: string;
}

/** An administrator with these roles. */
export async function makeAdmin(
  admin: Client,
  roleIds: number[] = [],
  more: object = {},
): Promise<MadeAdmin> {
  const [username, password] = [unique('admin'), 'secret-1'];
  const body = { username, password, nickname: username, role_ids: roleIds, ...more };
  return { ...(await made<MadeAdmin>(admin.post('/admins', body))), password };
}

/** A signed-in administrator who holds exactly these permissions. */
export async function signedInWith(
  admin: Client,
  slugs: string[],
): Promise<Client & { account?: MadeAdmin }> {
  const role = await makeRole(admin, slugs);
  const account = await makeAdmin(admin, [role.id]);
  return Object.assign(await admin.with({ Authorization: '' }).signIn(account), { account });
}

export const makeUser = (admin: Client, more: object = {}): Promise<Made & { username: string }> =>
  made(admin.post('/users', { username: unique('user'), ...more }));

export interface MadeOrder extends Made {
  order_no: string;
  amount: number;
  status: string;
}

/** A pending order over `price`, by default for a new user. */
export async function makeOrder(
  admin: Client,
  price: string | number = '12.30',
  more: object = {},
): Promise<MadeOrder> {
  const user_id = (more as { user_id?: number }).user_id ?? (await makeUser(admin)).id;
  const details = [{ product_name: 'Tea', price, quantity: 1 }];
  return made(admin.post('/orders', { user_id, details, ...more }));
}

/** A mock payment method; without a secret its callbacks need no signature. */
export const makeMethod = (
  admin: Client,
  shared_secret: string | undefined = 'shared secret',
  more: object = {},
): Promise<Made> =>
  made(
    admin.post('/payment-methods', { type: 'mock', ...(shared_secret ? { shared_secret } : {}), ...more }),
  );

/** A method of a payment company, with its configuration as it is shown. */
export const makeCompanyMethod = (
  admin: Client,
  type: string,
  config: object,
): Promise<Made & { config: Record<string, string> }> =>
  made(admin.post('/payment-methods', { type, config }));

export interface MadePayment extends Made {
  payment_no: string;
  order_no: string;
  amount: number;
}

/** A well-formed payment number of that instant that no payment has. */
export const somePaymentNumber = (at = new Date()): string => newPaymentNumber(at);

/** A pending payment for a new order, by default over a new method. */
export async function makePayment(
  admin: Client,
  methodId?: number,
  price: string | number = '12.30',
): Promise<MadePayment> {
  const order = await makeOrder(admin, price);
  return makePaymentOf(admin, order, methodId ?? (await makeMethod(admin)).id);
}

/** A pending payment for that order, beside those it has. */
export const makePaymentOf = (
  admin: Client,
  { order_no }: { order_no: string },
  payment_method_id: number,
): Promise<MadePayment> => made(admin.post('/payments', { order_no, payment_method_id }));

/** Places a payment for that order with its company. @param headers may have the key under which it was placed before */
export const placePayment = (
  admin: Client,
  { order_no }: { order_no: string },
  payment_method_id: number,
  headers?: Record<string, string>,
): Promise<Answer> => admin.post('/payments', { order_no, payment_method_id, initiate: true }, headers);

/** Signature of a mock callback (spec.md, Payment callback, rule 3). @param amount with two decimals */
export function mockSign(paymentNo: string, amount: string, secret = 'shared secret'): string {
  return createHmac('sha256', secret).update(`${paymentNo}|SUCCESS|${amount}`).digest('hex');
}

/** Body of a correct mock callback. */
export function mockCallback(
  { payment_no, amount }: { payment_no: string; amount: number },
  secret?: string,
): Record<string, unknown> {
  return {
    out_trade_no: payment_no,
    trade_status: 'SUCCESS',
    sign: mockSign(payment_no, amount.toFixed(2), secret),
  };
}

/** Sends a correct mock callback, changed by `more`. */
export const callBack = (
  caller: Client,
  payment: { payment_no: string; amount: number },
  more: object = {},
  secret?: string,
): Promise<Answer> => caller.post('//api/payment/notify/mock', { ...mockCallback(payment, secret), ...more });
