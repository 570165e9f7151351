// The menus a new deployment starts with, business first. A page's slug is the URL segment of its resource.
import type { Text } from '../../lib/values/language.js';

export interface MenuSeed {
  title: Text;
  slug: string;
  path: string;
  icon?: string;
  /** Hidden while that module is switched off. */
  module?: 'orders' | 'payments';
  /** A directory has children, a page has none. */
  children?: MenuSeed[];
}

export const menuSeeds: MenuSeed[] = [
  { title: { zh: '仪表盘', en: 'Dashboard' }, slug: 'dashboard', path: '/dashboard', icon: 'dashboard' },
  {
    title: { zh: '订单管理', en: 'Orders' },
    slug: 'trade',
    path: '/trade',
    icon: 'shopping-cart',
    module: 'orders',
    children: [{ title: { zh: '订单', en: 'Orders' }, slug: 'orders', path: '/trade/orders' }],
  },
  {
    title: { zh: '支付管理', en: 'Payments' },
    slug: 'payment',
    path: '/payment',
    icon: 'credit-card',
    module: 'payments',
    children: [
      { title: { zh: '支付记录', en: 'Payments' }, slug: 'payments', path: '/payment/payments' },
      { title: { zh: '退款', en: 'Refunds' }, slug: 'refunds', path: '/payment/refunds' },
      { title: { zh: '支付方式', en: 'Payment methods' }, slug: 'payment-methods', path: '/payment/methods' },
    ],
  },
  {
    title: { zh: '用户管理', en: 'Customers' },
    slug: 'customers',
    path: '/customers',
    icon: 'user',
    children: [
      { title: { zh: '用户', en: 'Users' }, slug: 'users', path: '/customers/users' },
      {
        title: { zh: '余额记录', en: 'Balance changes' },
        slug: 'user-balance-logs',
        path: '/customers/balance-logs',
      },
    ],
  },
  {
    title: { zh: '文件', en: 'Files' },
    slug: 'files',
    path: '/files',
    icon: 'folder',
    children: [
      { title: { zh: '附件', en: 'Attachments' }, slug: 'attachments', path: '/system/attachments' },
      { title: { zh: '导出', en: 'Exports' }, slug: 'exports', path: '/system/exports' },
      { title: { zh: '导入', en: 'Imports' }, slug: 'imports', path: '/system/imports' },
    ],
  },
  {
    title: { zh: '系统管理', en: 'System' },
    slug: 'system',
    path: '/system',
    icon: 'setting',
    children: [
      { title: { zh: '管理员', en: 'Administrators' }, slug: 'admins', path: '/system/admins' },
      { title: { zh: '角色', en: 'Roles' }, slug: 'roles', path: '/system/roles' },
      { title: { zh: '菜单', en: 'Menus' }, slug: 'menus', path: '/system/menus' },
      { title: { zh: '权限', en: 'Permissions' }, slug: 'permissions', path: '/system/permissions' },
      { title: { zh: '部门', en: 'Departments' }, slug: 'departments', path: '/system/departments' },
      { title: { zh: '字典', en: 'Dictionaries' }, slug: 'dictionaries', path: '/system/dictionaries' },
      { title: { zh: 'IP 黑名单', en: 'IP blacklist' }, slug: 'blacklists', path: '/system/blacklists' },
      {
        title: { zh: '在线管理员', en: 'Online administrators' },
        slug: 'online-admins',
        path: '/system/online-admins',
      },
      { title: { zh: '通知', en: 'Notifications' }, slug: 'notifications', path: '/system/notifications' },
      { title: { zh: '系统监控', en: 'System monitor' }, slug: 'monitor', path: '/system/monitor' },
      { title: { zh: '任务队列', en: 'Job queues' }, slug: 'queues', path: '/system/queues' },
      { title: { zh: '失败任务', en: 'Failed jobs' }, slug: 'failed-jobs', path: '/system/failed-jobs' },
    ],
  },
  {
    title: { zh: '日志', en: 'Logs' },
    slug: 'logs',
    path: '/logs',
    icon: 'file-text',
    children: [
      { title: { zh: '操作日志', en: 'Operation logs' }, slug: 'operation-logs', path: '/logs/operations' },
      { title: { zh: '登录日志', en: 'Login logs' }, slug: 'login-logs', path: '/logs/logins' },
      { title: { zh: '系统日志', en: 'System logs' }, slug: 'system-logs', path: '/logs/system' },
    ],
  },
];
