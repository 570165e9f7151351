// Every screen by the slug of its menu: its room and its module, loaded on demand. Its path is /room/slug.
import type { ComponentType } from 'react';
import type { Route } from '../contract/api.ts';
import type { Both } from '../contract/texts.ts';
import type { Resource } from '../parts/resource.ts';

export interface Screen {
  room: string;
  title: Both;
  /** The route without whose permission it has nothing to show. */
  opens: Route;
  load: () => Promise<{ default: Resource | ComponentType }>;
}

type Opened = Omit<Screen, 'opens'> & { opens?: Route };

/** Most are lists, which the route of their slug opens; all others name theirs. */
const declare = <S extends string>(all: {
  [K in S]: `GET /api/admin/${K}` extends Route ? Opened : Screen;
}): Record<string, Opened> => all;

const declared = declare({
  dashboard: {
    room: 'office',
    title: ['仪表盘', 'Dashboard'],
    opens: 'GET /api/admin/dashboard/count',
    load: () => import('../office/dashboard.tsx'),
  },
  orders: { room: 'trade', title: ['订单', 'Orders'], load: () => import('../trade/orders.tsx') },
  payments: { room: 'trade', title: ['支付记录', 'Payments'], load: () => import('../trade/payments.tsx') },
  refunds: { room: 'trade', title: ['退款', 'Refunds'], load: () => import('../trade/refunds.tsx') },
  'payment-methods': {
    room: 'trade',
    title: ['支付方式', 'Payment methods'],
    load: () => import('../trade/payment-methods.tsx'),
  },
  users: { room: 'trade', title: ['用户', 'Users'], load: () => import('../trade/users.tsx') },
  'user-balance-logs': {
    room: 'trade',
    title: ['余额记录', 'Balance changes'],
    load: () => import('../trade/user-balance-logs.tsx'),
  },
  admins: { room: 'access', title: ['管理员', 'Administrators'], load: () => import('../access/admins.tsx') },
  roles: { room: 'access', title: ['角色', 'Roles'], load: () => import('../access/roles.tsx') },
  menus: { room: 'access', title: ['菜单', 'Menus'], load: () => import('../access/menus.tsx') },
  permissions: {
    room: 'access',
    title: ['权限', 'Permissions'],
    load: () => import('../access/permissions.tsx'),
  },
  departments: {
    room: 'access',
    title: ['部门', 'Departments'],
    load: () => import('../access/departments.tsx'),
  },
  'online-admins': {
    room: 'access',
    title: ['在线管理员', 'Online administrators'],
    load: () => import('../access/online-admins.tsx'),
  },
  profile: {
    room: 'access',
    title: ['个人设置', 'Profile'],
    opens: 'GET /api/admin/info',
    load: () => import('../access/profile.tsx'),
  },
  dictionaries: {
    room: 'office',
    title: ['字典', 'Dictionaries'],
    load: () => import('../office/dictionaries.tsx'),
  },
  blacklists: {
    room: 'office',
    title: ['IP 黑名单', 'IP blacklist'],
    load: () => import('../office/blacklists.tsx'),
  },
  notifications: {
    room: 'office',
    title: ['通知', 'Notifications'],
    load: () => import('../office/notifications.tsx'),
  },
  monitor: {
    room: 'office',
    title: ['系统监控', 'System monitor'],
    opens: 'GET /api/admin/monitor/system-info',
    load: () => import('../office/monitor.tsx'),
  },
  queues: {
    room: 'office',
    title: ['任务队列', 'Job queues'],
    opens: 'GET /api/admin/failed-jobs',
    load: () => import('../office/queues.tsx'),
  },
  attachments: {
    room: 'files',
    title: ['附件', 'Attachments'],
    load: () => import('../files/attachments.tsx'),
  },
  exports: { room: 'exports', title: ['导出', 'Exports'], load: () => import('../exports/exports.tsx') },
  imports: { room: 'imports', title: ['导入', 'Imports'], load: () => import('../imports/imports.tsx') },
  'operation-logs': {
    room: 'logs',
    title: ['操作日志', 'Operation logs'],
    load: () => import('../logs/operation-logs.tsx'),
  },
  'login-logs': {
    room: 'logs',
    title: ['登录日志', 'Login logs'],
    load: () => import('../logs/login-logs.tsx'),
  },
  'system-logs': {
    room: 'logs',
    title: ['系统日志', 'System logs'],
    load: () => import('../logs/system-logs.tsx'),
  },
});

/** By slug. Slugs of menus are data, so they are looked up in maps. */
export const screens: ReadonlyMap<string, Screen> = new Map(
  Object.entries(declared).map(([slug, screen]) => [
    slug,
    { opens: `GET /api/admin/${slug}` as Route, ...screen },
  ]),
);

/** Built-in directories of the menu, by slug. */
export const directories: ReadonlyMap<string, Both> = new Map(
  Object.entries<Both>({
    system: ['系统管理', 'System'],
    files: ['文件', 'Files'],
    logs: ['日志', 'Logs'],
    customers: ['用户管理', 'Customers'],
    trade: ['订单管理', 'Orders'],
    payment: ['支付管理', 'Payments'],
  }),
);

export const addressOf = (slug: string, { room }: Screen): string => `/${room}/${slug}`;
