// Faults in orders: placing, cancelling, deleting, expiring.
import type { Fault } from './fault.js';

const file = 'src/models/trade/order.ts';
const placement = 'src/models/trade/order-placement.ts';
const lists = 'test/tables/lists.test.ts';
const doubleMoney = 'test/trade/double-money.test.ts';
const orderTests = 'test/trade/orders.test.ts';

export const orders: Fault[] = [
  {
    file,
    from: `if (order.status !== 'pending') fail('order_not_cancellable');`,
    to: ``,
    breaks: 'a paid order can be cancelled',
    test: orderTests,
    match: 'a paid order cannot be cancelled',
  },
  {
    file,
    from: `fail('order_not_cancellable');
      if (await isBeingPaid(order.order_no, t)) fail('order_being_paid');`,
    to: `fail('order_not_cancellable');`,
    breaks: 'an order that is being paid can be cancelled',
    test: doubleMoney,
    match: 'money reported in time wins over expiry, cancelling and deleting',
  },
  {
    file,
    from: `fail('order_not_deletable');
    if (await isBeingPaid(order.order_no, t)) fail('order_being_paid');`,
    to: `fail('order_not_deletable');`,
    breaks: 'an order that is being paid can be deleted',
    test: doubleMoney,
    match: 'money reported in time wins over expiry, cancelling and deleting',
  },
  {
    file,
    from: `if (order.status === 'paid') fail('order_not_deletable');`,
    to: ``,
    breaks: 'a paid order can be deleted',
    test: orderTests,
    match: 'a paid order cannot be deleted',
  },
  {
    file,
    from: `if (order.status === 'pending') await cancel(order, t);`,
    to: ``,
    breaks: 'deleting an order leaves its payments',
    test: orderTests,
    match: 'pending and cancelled orders can be deleted',
  },
  {
    file,
    from: `  await cancelPayments(order, t);`,
    to: ``,
    breaks: 'cancelling an order leaves its payments',
    test: orderTests,
    match: 'cancelling an order*',
  },
  {
    file,
    from: `status: 'cancelled', cancelled_at: at,`,
    to: `status: 'cancelled', cancelled_at: new Date(at.getTime() + 86_400_000),`,
    breaks: 'late money pays a cancelled order for a day',
    test: 'test/trade/payment-notify.test.ts',
    match: 'money for an order*',
  },
  {
    file,
    from: `AND o.status = 'pending' AND o.expire_at <= :at`,
    to: `AND o.status = 'pending' AND o.expire_at <> :at`,
    breaks: 'an order expires before its time',
    test: orderTests,
    match: 'an expiry job*',
  },
  {
    file,
    from: `WHERE o.order_no = :orderNo AND o.period = :period AND o.status = 'pending' AND o.expire_at`,
    to: `WHERE o.order_no = :orderNo AND o.period = :period AND o.expire_at`,
    breaks: 'a paid order is cancelled when its time is up',
    test: orderTests,
    match: 'an expiry job*',
  },
  {
    file,
    from: `AND o.deleted_at IS NULL FOR UPDATE\``,
    to: `AND o.deleted_at IS NULL\``,
    breaks: 'an order that is paid while it expires ends cancelled',
    test: doubleMoney,
    match: 'an order that is paid while it expires*',
  },
  {
    file,
    from: `if (!order || (await isBeingPaid(orderNo, t))) return 'not_due';`,
    to: `if (!order) return 'not_due';`,
    breaks: 'stored, on-time money loses to the expiry of its order',
    test: doubleMoney,
    match: 'money reported in time wins over expiry, cancelling and deleting',
  },
  {
    file,
    from: `deleted_at IS NULL AND expire_at < :before`,
    to: `deleted_at IS NULL AND expire_at > :before`,
    breaks: 'the sweeper finds no overdue order',
    test: 'test/trade/sweep.test.ts',
  },
  {
    file,
    from: `new Where().and('o.deleted_at IS NULL');
  return addFilters`,
    to: `new Where();
  return addFilters`,
    breaks: 'deleted orders are listed',
    test: orderTests,
    match: 'pending and cancelled orders can be deleted',
  },
  {
    file,
    from: `const where = new Where().and('o.deleted_at IS NULL');`,
    to: `const where = new Where();`,
    breaks: 'a deleted order is found',
    test: orderTests,
    match: 'pending and cancelled orders can be deleted',
  },
  {
    file: 'src/models/trade/tables.ts',
    from: `.default('pending').titled('状态', 'Status').filtered())
  declare status: CreationOptional<OrderStatus>;`,
    to: `.default('pending').titled('状态', 'Status'))
  declare status: CreationOptional<OrderStatus>;`,
    breaks: 'the filter by state is ignored',
    test: lists,
    match: 'orders are filtered by number, user, status, amount, remark and time',
  },
  {
    file: placement,
    from: `!stated.equals(amount)`,
    to: `stated.equals(new Money(0n))`,
    breaks: 'an amount that is not the sum of the lines is taken',
    test: orderTests,
    match: 'a given amount*',
  },
  {
    file: placement,
    from: `if (!amount.withinLimit) refuseField(`,
    to: `if (amount.isNegative) refuseField(`,
    breaks: 'an amount beyond the limit is taken',
    test: orderTests,
    match: 'amounts that are not exact up to 10^13 are refused',
  },
  {
    file: placement,
    from: `if (user.status !== 1) fail('user_disabled');`,
    to: ``,
    breaks: 'a disabled user gets an order',
    test: orderTests,
    match: 'only a known*',
  },
  {
    file: placement,
    from: `lifetime * 1000`,
    to: `lifetime * 1000_000`,
    breaks: 'an order lives a thousand times as long as asked',
    test: orderTests,
    match: 'an expired order is cancelled by its delayed job',
  },
  {
    file: 'src/models/trade/idempotency-key.ts',
    from: `if (!hashesOf(request).includes(earlier.request_hash))`,
    to: `if (hashesOf(request).length === 0)`,
    breaks: 'one key serves different requests',
    test: 'test/http/idempotency.test.ts',
    match: 'only one of twenty different requests under one key takes effect',
  },
  {
    file: 'src/lib/database/errors.ts',
    from: `new Set([1213, 1205, 1467])`,
    to: `new Set([1213, 1205])`,
    breaks: 'a wait for an AUTO_INCREMENT lock is answered 500',
    test: 'test/trade/transactions.test.ts',
    match: 'every error of a lock is run again*',
  },
];
