// /orders: the orders of users. {id} is the order number; the numeric id works too.
import Joi from 'joi';
import { config } from '../../../../config/index.js';
import { now } from '../../../lib/values/clock.js';
import {
  id,
  idOrNone,
  money,
  nonEmptyMultiline,
  optionalMultiline,
  referenceParam,
} from '../../../lib/input/schema.js';
import { expireOrder } from '../../../jobs/expire-order.js';
import {
  getOrder,
  listOrders,
  sumOrders,
  orderQuery,
  deleteOrder,
  updateOrder,
  type OrderFields,
  type OrderUpdate,
} from '../../../models/trade/order.js';
import { placeOrder, type NewOrder, type OrderLine } from '../../../models/trade/order-placement.js';
import { refundsOfOrder } from '../../../models/trade/refund.js';
import { Order, OrderDetail, orderStatuses } from '../../../models/trade/tables.js';
import { exportRoutes } from '../../declare/export-routes.js';
import { namedUser, refund } from '../../declare/records.js';
import { importAnswer, orderImport, receiveImport } from '../../flows/import-upload.js';
import {
  described,
  keysOf,
  listOf,
  summedPage,
  summedPageOf,
  withSum,
  record,
  resource,
} from '../../declare/response.js';
import { can, route } from '../../declare/route.js';

const keys = {
  ...described(keysOf(Order), {
    status: ['pending, paid or cancelled'],
    payment_no: ['The payment that paid the order; null if it is not paid', null],
  }),
  user: namedUser,
  details: listOf(record(keysOf(OrderDetail))),
};

const order = resource('Order', keys);
const shownOrder = resource('ShownOrder', {
  ...keys,
  refunds: listOf(refund).description('Refunds of the order, oldest first, at most 200'),
});

/** Fields that callers set, now or later. */
const fields: Joi.StrictSchemaMap<OrderFields> = { remark: optionalMultiline(500) };

const line = Joi.object<OrderLine, true>({
  product_id: idOrNone(),
  product_name: nonEmptyMultiline(200).required(),
  price: money(0n).required(),
  quantity: Joi.number().integer().min(1).max(1_000_000).required(),
});

export const routes = [
  route('GET', '/orders', {
    name: 'listOrders',
    summary: 'List orders',
    description: '`start_time` and `end_time` apply to `time_field`.',
    access: can('order.index', '查看订单列表', 'List orders'),
    query: withSum(orderQuery),
    response: summedPageOf(order),
    handle: ({ query }) => summedPage(query, listOrders, sumOrders),
  }),
  route('POST', '/orders', {
    name: 'createOrder',
    bodyBytes: 256 * 1024,
    summary: 'Place a pending order',
    description: '`amount`, when given, must equal the sum of the details.',
    access: can('order.store', '创建订单', 'Create orders'),
    body: Joi.object<NewOrder, true>({
      user_id: id().required(),
      details: Joi.array().items(line).min(1).max(200).required(),
      amount: money(0n),
      ...fields,
      expire_in_seconds: Joi.number().integer().min(1).max(31_536_000),
    }),
    aliases: { products: 'details' },
    fails: ['order_amount_mismatch', 'order_not_found', 'user_disabled', 'user_unknown'],
    response: order,
    async handle({ body }) {
      const placed = await placeOrder(body);
      const { order_no, expire_at } = placed;
      if (expire_at) {
        const delayMs = Math.max(0, expire_at.getTime() - now().getTime());
        await expireOrder.enqueueOrLeave({ order_no }, { delayMs });
      }
      return placed;
    },
    repeat: (id) => getOrder(String(id)),
  }),
  ...exportRoutes('orders', { zh: '订单', en: 'orders' }),
  route('POST', '/orders/import', {
    name: 'importOrders',
    limit: 'upload',
    summary: 'Import orders from a CSV file',
    description:
      'UTF-8, GBK or UTF-16 with a byte order mark; columns in any order, separated by commas, ' +
      'semicolons or tabs: `user_id` or `username`, `amount`, `remark`, `order_ref`, `product_id`, ' +
      '`product_name`, `price`, `quantity`, or their Chinese names; the column `reason` of an error file ' +
      'is ignored. Rows of the file with the same `order_ref` are one order; a row of another file with ' +
      'it makes another order. A line needs `product_name`, `price` and `quantity`: an empty quantity is refused. ' +
      'Orders with a bad row are left out and reported; `dry_run`, a field of the form or the query, ' +
      'only checks. The answer waits up to 3 seconds for the end.',
    access: can('order.import', '导入订单', 'Import orders'),
    upload: { parts: ['file'], maxBytes: config.storage.importMaxBytes, required: true, digest: true },
    // Accepted in both places: an overlooked dry_run would create orders.
    query: Joi.object<{ dry_run: boolean }, true>({ dry_run: Joi.boolean().default(false) }),
    body: Joi.object<{ dry_run: boolean }, true>({ dry_run: Joi.boolean().default(false) }),
    fails: [
      'import_encoding_unknown',
      'import_failed',
      'import_file_invalid',
      'import_head_invalid',
      'import_line_too_long',
      'import_not_csv',
      'import_not_found',
      'import_rows_missing',
      'import_too_many_rows',
    ],
    response: orderImport,
    handle: ({ admin, query, body, upload }) => receiveImport(upload, admin, query.dry_run || body.dry_run),
    repeat: (id, { admin }) => importAnswer(id, admin),
  }),
  route('GET', '/orders/{id}', {
    name: 'showOrder',
    summary: 'Show an order with its refunds',
    access: can('order.show', '查看订单', 'Show orders'),
    params: referenceParam,
    fails: ['order_not_found'],
    response: shownOrder,
    handle: ({ params }) => showOrder(params.id),
  }),
  route('PUT', '/orders/{id}', {
    name: 'updateOrder',
    summary: 'Change the remark of an order or cancel it',
    description: '`status` may be the present one or `cancelled`.',
    access: can('order.update', '修改订单', 'Change orders'),
    params: referenceParam,
    body: Joi.object<OrderUpdate, true>({
      ...fields,
      status: Joi.string().valid(...orderStatuses),
    }),
    fails: ['order_being_paid', 'order_not_cancellable', 'order_not_found', 'order_status_unsettable'],
    response: shownOrder,
    subject: ({ params }, t) => getOrder(params.id, t),
    async handle({ params, body }) {
      await updateOrder(params.id, body);
      return showOrder(params.id);
    },
  }),
  route('DELETE', '/orders/{id}', {
    name: 'deleteOrder',
    summary: 'Delete a pending or cancelled order',
    access: can('order.destroy', '删除订单', 'Delete orders'),
    params: referenceParam,
    fails: ['order_being_paid', 'order_not_deletable', 'order_not_found'],
    subject: ({ params }, t) => getOrder(params.id, t),
    handle: ({ params }) => deleteOrder(params.id),
  }),
];

async function showOrder(reference: string) {
  const found = await getOrder(reference);
  return { ...found, refunds: await refundsOfOrder(found.order_no) };
}
