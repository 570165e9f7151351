// What can be exported: the columns of each type, as an administrator reads them.
import type { Text } from '../../lib/language.js';
import { adminsWhere, type AdminCriteria } from '../access/admin.js';
import { balanceLogsWhere, type BalanceLogCriteria } from '../trade/balance-log.js';
import type { SheetSource, SourceColumn } from './export-sheet.js';
import { ordersWhere, type OrderCriteria } from '../trade/order.js';
import { paymentsWhere, type PaymentCriteria } from '../trade/payment.js';
import { usersWhere, type UserCriteria } from '../trade/user.js';

type Kind = SourceColumn['kind'];

const text = (zh: string, en: string): Text => ({ zh, en });

const column = (
  sql: string,
  kind: Kind,
  zh: string,
  en: string,
  texts?: SourceColumn['texts'],
): SourceColumn => ({
  ...{ sql, kind, title: text(zh, en), texts },
});

const enabled = { 0: text('禁用', 'Disabled'), 1: text('启用', 'Enabled') };

const yesNo = { 0: text('否', 'No'), 1: text('是', 'Yes') };

const admins: SheetSource<AdminCriteria> = {
  title: text('管理员', 'Administrators'),
  table: 'admins a',
  key: 'a.id',
  columns: [
    column('a.id', 'integer', '编号', 'ID'),
    column('a.username', 'text', '用户名', 'Username'),
    column('a.nickname', 'text', '昵称', 'Nickname'),
    column('a.email', 'text', '邮箱', 'E-mail'),
    column('a.phone', 'text', '电话', 'Phone'),
    column('a.status', 'text', '状态', 'Status', enabled),
    column('d.name', 'text', '部门', 'Department'),
    column(
      `(SELECT GROUP_CONCAT(r.name ORDER BY r.id SEPARATOR '; ') FROM admin_roles ar JOIN roles r ON r.id = ar.role_id
        WHERE ar.admin_id = a.id)`,
      ...(['text', '角色', 'Roles'] as const),
    ),
    column('a.last_login_at', 'time', '最后登录时间', 'Last sign-in'),
    column('a.created_at', 'time', '创建时间', 'Created at'),
  ],
  where: adminsWhere,
  from: (records, where, limit) =>
    `FROM ${records} LEFT JOIN departments d ON d.id = a.department_id ${where} ORDER BY a.id ${limit}`,
};

const users: SheetSource<UserCriteria> = {
  title: text('用户', 'Users'),
  table: 'users u',
  key: 'u.id',
  columns: [
    column('u.id', 'integer', '编号', 'ID'),
    column('u.username', 'text', '用户名', 'Username'),
    column('u.nickname', 'text', '昵称', 'Nickname'),
    column('u.email', 'text', '邮箱', 'E-mail'),
    column('u.phone', 'text', '电话', 'Phone'),
    column('u.balance', 'amount', '余额', 'Balance'),
    column('u.status', 'text', '状态', 'Status', enabled),
    column('u.last_login_at', 'time', '最后登录时间', 'Last sign-in'),
    column('u.created_at', 'time', '创建时间', 'Created at'),
  ],
  where: usersWhere,
  from: (records, where, limit) => `FROM ${records} ${where} ORDER BY u.id ${limit}`,
};

const orderStates = {
  pending: text('待支付', 'Pending'),
  paid: text('已支付', 'Paid'),
  cancelled: text('已取消', 'Cancelled'),
};

// One row per detail line; what belongs to the order stands on each of its lines.
const orders: SheetSource<OrderCriteria> = {
  title: text('订单', 'Orders'),
  table: 'orders o',
  key: 'o.id',
  month: 'o.period',
  columns: [
    column('o.order_no', 'text', '订单号', 'Order number'),
    column('o.user_id', 'integer', '用户编号', 'User ID'),
    column('u.username', 'text', '用户名', 'Username'),
    column('o.amount', 'amount', '订单金额', 'Order amount'),
    column('o.status', 'text', '状态', 'Status', orderStates),
    column('o.remark', 'text', '备注', 'Remark'),
    column('d.product_id', 'integer', '商品编号', 'Product ID'),
    column('d.product_name', 'text', '商品名称', 'Product'),
    column('d.price', 'amount', '单价', 'Price'),
    column('d.quantity', 'integer', '数量', 'Quantity'),
    column('d.subtotal', 'amount', '小计', 'Subtotal'),
    column('o.payment_no', 'text', '支付单号', 'Payment number'),
    column('o.paid_at', 'time', '支付时间', 'Paid at'),
    column('o.created_at', 'time', '创建时间', 'Created at'),
  ],
  where: ordersWhere,
  isNarrow: ({ user_id }) => user_id !== undefined,
  from: (records, where, limit) =>
    `FROM (SELECT o.id, o.period, o.order_no, o.user_id, o.amount, o.status, o.remark, o.payment_no, o.paid_at, o.created_at
       FROM ${records} ${where} ORDER BY o.id ${limit}) o
     LEFT JOIN users u ON u.id = o.user_id
     LEFT JOIN order_details d ON d.order_no = o.order_no AND d.period = o.period ORDER BY o.id, d.id`,
};

const payments: SheetSource<PaymentCriteria> = {
  title: text('支付记录', 'Payments'),
  table: 'payments p',
  key: 'p.id',
  month: 'p.period',
  columns: [
    column('p.payment_no', 'text', '支付单号', 'Payment number'),
    column('p.order_no', 'text', '订单号', 'Order number'),
    column('p.user_id', 'integer', '用户编号', 'User ID'),
    column('u.username', 'text', '用户名', 'Username'),
    column('m.name', 'text', '支付方式', 'Payment method'),
    column('m.type', 'text', '支付类型', 'Payment type'),
    column('p.amount', 'amount', '金额', 'Amount'),
    column('p.status', 'text', '状态', 'Status', {
      ...orderStates,
      failed: text('失败', 'Failed'),
    }),
    column('p.third_party_no', 'text', '第三方交易号', 'Third-party number'),
    column('p.pay_time', 'time', '支付时间', 'Paid at'),
    column('p.needs_attention', 'text', '需人工处理', 'Needs attention', yesNo),
    column('p.fail_reason', 'text', '原因', 'Reason'),
    column('p.remark', 'text', '备注', 'Remark'),
    column('p.created_at', 'time', '创建时间', 'Created at'),
  ],
  where: paymentsWhere,
  isNarrow: ({ user_id }) => user_id !== undefined,
  from: (records, where, limit) =>
    `FROM ${records} LEFT JOIN users u ON u.id = p.user_id LEFT JOIN payment_methods m ON m.id = p.payment_method_id
     ${where} ORDER BY p.id ${limit}`,
};

const balanceLogs: SheetSource<BalanceLogCriteria> = {
  title: text('余额记录', 'Balance changes'),
  table: 'user_balance_logs l',
  key: 'l.id',
  columns: [
    column('l.id', 'integer', '编号', 'ID'),
    column('l.user_id', 'integer', '用户编号', 'User ID'),
    column('u.username', 'text', '用户名', 'Username'),
    column('l.type', 'text', '类型', 'Type', {
      income: text('收入', 'Income'),
      expense: text('支出', 'Expense'),
      refund: text('退款', 'Refund'),
    }),
    column('l.amount', 'amount', '金额', 'Amount'),
    column('l.balance_before', 'amount', '变动前余额', 'Balance before'),
    column('l.balance_after', 'amount', '变动后余额', 'Balance after'),
    column('l.source', 'text', '来源', 'Source'),
    column('l.source_id', 'text', '来源编号', 'Source ID'),
    column('l.description', 'text', '说明', 'Description'),
    column('a.username', 'text', '操作人', 'Operator'),
    column('l.created_at', 'time', '创建时间', 'Created at'),
  ],
  where: balanceLogsWhere,
  isNarrow: ({ user_id }) => user_id !== undefined,
  from: (records, where, limit) =>
    `FROM ${records} LEFT JOIN users u ON u.id = l.user_id LEFT JOIN admins a ON a.id = l.operator_id
     ${where} ORDER BY l.id ${limit}`,
};

/** Every type of export. */
export const exportSources = { admins, users, orders, payments, user_balance_logs: balanceLogs } as const;

export type ExportType = keyof typeof exportSources;

export const exportTypes = Object.keys(exportSources) as ExportType[];
