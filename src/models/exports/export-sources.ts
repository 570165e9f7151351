// What can be exported: the columns of each type, as an administrator reads them.
import { Where } from '../../lib/input/list-query.js';
import type { Language } from '../../lib/values/language.js';
import { roleName } from '../access/builtin-names.js';
import { adminFilters, adminIds, type AdminCriteria } from '../access/admin.js';
import { balanceLogFilters, balanceLogsWhere, type BalanceLogCriteria } from '../trade/balance-log.js';
import { Admin, Department } from '../access/tables.js';
import { columnsOf, computed } from '../tables/selection.js';
import { BalanceLog, Order, OrderDetail, Payment, PaymentMethod, User } from '../trade/tables.js';
import { Refund } from '../trade/channel-tables.js';
import { orderFilters, ordersWhere, type OrderCriteria } from '../trade/order.js';
import { attentionTexts } from '../trade/payment-attention.js';
import { paymentFilters, paymentsWhere, type PaymentCriteria } from '../trade/payment.js';
import { refundAttentionTexts } from '../trade/refund-attention.js';
import { refundFilters, refundsWhere, type RefundCriteria } from '../trade/refund.js';
import { userFilters, usersWhere, type UserCriteria } from '../trade/user.js';
import type { SheetSource } from './export-sheet.js';
import { column, otherTitled, text, titled, yesNo } from './sheet-columns.js';
import type { ExportType } from './tables.js';

const admin = columnsOf(Admin, 'a');
const department = columnsOf(Department, 'd');
const user = columnsOf(User, 'u');
const order = columnsOf(Order, 'o');
const line = columnsOf(OrderDetail, 'd');
const payment = columnsOf(Payment, 'p');
const refund = columnsOf(Refund, 'r');
const method = columnsOf(PaymentMethod, 'm');
const assignee = columnsOf(Admin, 'a', 'username');
const approver = columnsOf(Admin, 'b', 'username');
const log = columnsOf(BalanceLog, 'l');

const enabled = { 0: text('禁用', 'Disabled'), 1: text('启用', 'Enabled') };

// No slug has a slash, no name a line break.
const rolesOfAdmin = computed<string>(
  `(SELECT GROUP_CONCAT(CONCAT(r.slug, '/', r.name) ORDER BY r.id SEPARATOR '\\n')
    FROM admin_roles ar JOIN roles r ON r.id = ar.role_id WHERE ar.admin_id = a.id)`,
);

const roleNames = (cell: string, language: Language): string =>
  cell
    .split('\n')
    .map((role) => roleName(role.replace(/\/.*/u, ''), role.replace(/^[^/]*\//u, ''), language))
    .join('; ');

const admins: SheetSource<AdminCriteria> = {
  title: text('管理员', 'Administrators'),
  table: 'admins a',
  key: 'a.id',
  columns: [
    column(admin.id, '编号', 'ID'),
    column(admin.username, '用户名', 'Username'),
    column(admin.nickname, '昵称', 'Nickname'),
    column(admin.email, '邮箱', 'E-mail'),
    column(admin.phone, '电话', 'Phone'),
    column(admin.status, '状态', 'Status', enabled),
    column(department.name, '部门', 'Department'),
    { ...column(rolesOfAdmin, '角色', 'Roles'), show: roleNames },
    column(admin.last_login_at, '最后登录时间', 'Last sign-in'),
    column(admin.created_at, '创建时间', 'Created at'),
  ],
  filters: adminFilters,
  where: async (criteria) => new Where().and('a.id IN (?)', [0, ...(await adminIds(criteria))]),
  joins: 'LEFT JOIN departments d ON d.id = a.department_id',
};

const users: SheetSource<UserCriteria> = {
  title: text('用户', 'Users'),
  table: 'users u',
  key: 'u.id',
  columns: [
    column(user.id, '编号', 'ID'),
    column(user.username, '用户名', 'Username'),
    column(user.nickname, '昵称', 'Nickname'),
    column(user.email, '邮箱', 'E-mail'),
    column(user.phone, '电话', 'Phone'),
    column(user.balance, '余额', 'Balance'),
    column(user.status, '状态', 'Status', enabled),
    column(user.last_login_at, '最后登录时间', 'Last sign-in'),
    column(user.created_at, '创建时间', 'Created at'),
  ],
  filters: userFilters,
  where: usersWhere,
};

const orderStates = {
  pending: text('待支付', 'Pending'),
  paid: text('已支付', 'Paid'),
  cancelled: text('已取消', 'Cancelled'),
};

const orderFirst = [
  titled(order.order_no),
  titled(order.user_id),
  column(user.username, '用户名', 'Username'),
  titled(order.amount),
  titled(order.status, orderStates),
  titled(order.remark),
];
const orderLast = [titled(order.payment_no), titled(order.paid_at), titled(order.created_at)];

// One row per detail line; the columns of the order are repeated on each of its lines.
const orders: SheetSource<OrderCriteria> = {
  title: text('订单', 'Orders'),
  table: 'orders o',
  key: 'o.id',
  month: 'o.period',
  columns: [
    ...orderFirst,
    ...otherTitled(order, [...orderFirst, ...orderLast]),
    column(line.product_id, '商品编号', 'Product ID'),
    column(line.product_name, '商品名称', 'Product'),
    column(line.price, '单价', 'Price'),
    column(line.quantity, '数量', 'Quantity'),
    column(line.subtotal, '小计', 'Subtotal'),
    ...orderLast,
  ],
  filters: orderFilters,
  where: ordersWhere,
  isNarrow: ({ user_id }) => user_id !== undefined,
  joins: `LEFT JOIN users u ON u.id = o.user_id
    LEFT JOIN order_details d ON d.order_no = o.order_no AND d.period = o.period`,
  lines: 'd.id',
};

const payments: SheetSource<PaymentCriteria> = {
  title: text('支付记录', 'Payments'),
  table: 'payments p',
  key: 'p.id',
  month: 'p.period',
  columns: [
    column(payment.payment_no, '支付单号', 'Payment number'),
    column(payment.order_no, '订单号', 'Order number'),
    column(payment.user_id, '用户编号', 'User ID'),
    column(user.username, '用户名', 'Username'),
    column(method.name, '支付方式', 'Payment method'),
    column(method.type, '支付类型', 'Payment type'),
    column(payment.amount, '金额', 'Amount'),
    column(payment.status, '状态', 'Status', {
      ...orderStates,
      failed: text('失败', 'Failed'),
    }),
    column(payment.third_party_no, '第三方交易号', 'Third-party number'),
    column(payment.pay_time, '支付时间', 'Paid at'),
    column(payment.needs_attention, '需人工处理', 'Needs attention', yesNo),
    column(payment.fail_reason, '原因', 'Reason', attentionTexts),
    column(assignee.username, '处理人', 'Assignee'),
    column(payment.remark, '备注', 'Remark'),
    column(payment.created_at, '创建时间', 'Created at'),
  ],
  filters: paymentFilters,
  where: paymentsWhere,
  isNarrow: ({ user_id }) => user_id !== undefined,
  joins: `LEFT JOIN users u ON u.id = p.user_id LEFT JOIN payment_methods m ON m.id = p.payment_method_id
    LEFT JOIN admins a ON a.id = p.assignee_id`,
};

const refunds: SheetSource<RefundCriteria> = {
  title: text('退款', 'Refunds'),
  table: 'refunds r',
  key: 'r.id',
  month: 'r.period',
  columns: [
    column(refund.refund_no, '退款单号', 'Refund number'),
    column(refund.payment_no, '支付单号', 'Payment number'),
    column(refund.order_no, '订单号', 'Order number'),
    column(refund.user_id, '用户编号', 'User ID'),
    column(user.username, '用户名', 'Username'),
    column(method.name, '支付方式', 'Payment method'),
    column(refund.amount, '金额', 'Amount'),
    column(refund.destination, '去向', 'Destination', {
      channel: text('原路退回', 'Channel'),
      balance: text('用户余额', 'Balance'),
    }),
    column(refund.status, '状态', 'Status', {
      waiting: text('待审批', 'Waiting for approval'),
      pending: text('待发送', 'To be sent'),
      processing: text('处理中', 'Processing'),
      succeeded: text('已退款', 'Succeeded'),
      failed: text('失败', 'Failed'),
      rejected: text('已驳回', 'Rejected'),
    }),
    column(refund.reason, '退款原因', 'Reason'),
    column(refund.channel_refund_no, '渠道退款号', 'Number at the channel'),
    column(refund.code, '渠道结果', 'Word of the channel'),
    column(refund.needs_attention, '需人工处理', 'Needs attention', yesNo),
    column(refund.fail_reason, '说明', 'Note', refundAttentionTexts),
    column(admin.username, '申请人', 'Requested by'),
    column(approver.username, '审批人', 'Decided by'),
    column(refund.accepted_at, '受理时间', 'Accepted at'),
    column(refund.finished_at, '完成时间', 'Finished at'),
    column(refund.created_at, '创建时间', 'Created at'),
  ],
  filters: refundFilters,
  where: refundsWhere,
  isNarrow: ({ user_id, payment_no }) => user_id !== undefined || Boolean(payment_no),
  joins: `LEFT JOIN users u ON u.id = r.user_id LEFT JOIN payment_methods m ON m.id = r.payment_method_id
    LEFT JOIN admins a ON a.id = r.requested_by LEFT JOIN admins b ON b.id = r.approved_by`,
};

const balanceLogs: SheetSource<BalanceLogCriteria> = {
  title: text('余额记录', 'Balance changes'),
  table: 'user_balance_logs l',
  key: 'l.id',
  columns: [
    column(log.id, '编号', 'ID'),
    column(log.user_id, '用户编号', 'User ID'),
    column(user.username, '用户名', 'Username'),
    column(log.type, '类型', 'Type', {
      income: text('收入', 'Income'),
      expense: text('支出', 'Expense'),
      refund: text('退款', 'Refund'),
    }),
    column(log.amount, '金额', 'Amount'),
    column(log.balance_before, '变动前余额', 'Balance before'),
    column(log.balance_after, '变动后余额', 'Balance after'),
    column(log.source, '来源', 'Source'),
    column(log.source_id, '来源编号', 'Source ID'),
    column(log.description, '说明', 'Description'),
    column(admin.username, '操作人', 'Operator'),
    column(log.created_at, '创建时间', 'Created at'),
  ],
  filters: balanceLogFilters,
  where: balanceLogsWhere,
  isNarrow: ({ user_id }) => user_id !== undefined,
  joins: 'LEFT JOIN users u ON u.id = l.user_id LEFT JOIN admins a ON a.id = l.operator_id',
};

export const exportSources = {
  admins,
  users,
  orders,
  payments,
  refunds,
  user_balance_logs: balanceLogs,
} satisfies Record<ExportType, SheetSource<never>>;
