// Every screen by the slug of its menu: its room and its module, loaded on demand. Its path is /room/slug.
import type { ComponentType } from 'react';
import type { Both } from '../contract/texts.ts';
import type { Resource } from '../parts/resource.ts';

export interface Screen {
  room: string;
  title: Both;
  load: () => Promise<{ default: Resource | ComponentType }>;
}

export const screens: Readonly<Record<string, Screen>> = {
  dashboard: {
    room: 'office',
    title: ['仪表盘', 'Dashboard'],
    load: () => import('../office/dashboard.tsx'),
  },
  orders: { room: 'trade', title: ['订单', 'Orders'], load: () => import('../trade/orders.tsx') },
  payments: { room: 'trade', title: ['支付记录', 'Payments'], load: () => import('../trade/payments.tsx') },
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
  profile: { room: 'access', title: ['个人设置', 'Profile'], load: () => import('../access/profile.tsx') },
  dictionaries: {
    room: 'office',
    title: ['字典', 'Dictionaries'],
    load: () => import('../office/dictionaries.tsx'),
  },
  blacklists: {
    room: 'office',
    title: ['IP 黑名单', 'Blocked addresses'],
    load: () => import('../office/blacklists.tsx'),
  },
  notifications: {
    room: 'office',
    title: ['通知', 'Notifications'],
    load: () => import('../office/notifications.tsx'),
  },
  monitor: { room: 'office', title: ['系统监控', 'Monitor'], load: () => import('../office/monitor.tsx') },
  queues: { room: 'office', title: ['任务队列', 'Queues'], load: () => import('../office/queues.tsx') },
  attachments: {
    room: 'files',
    title: ['附件', 'Attachments'],
    load: () => import('../files/attachments.tsx'),
  },
  exports: { room: 'exports', title: ['导出', 'Exports'], load: () => import('../exports/exports.tsx') },
  imports: { room: 'imports', title: ['导入', 'Imports'], load: () => import('../imports/imports.tsx') },
  'operation-logs': {
    room: 'logs',
    title: ['操作日志', 'Operations'],
    load: () => import('../logs/operation-logs.tsx'),
  },
  'login-logs': {
    room: 'logs',
    title: ['登录日志', 'Sign-ins'],
    load: () => import('../logs/login-logs.tsx'),
  },
  'system-logs': {
    room: 'logs',
    title: ['系统日志', 'System log'],
    load: () => import('../logs/system-logs.tsx'),
  },
};

/** Built-in directories of the menu. */
export const directories: Readonly<Record<string, Both>> = {
  system: ['系统管理', 'System'],
  logs: ['日志', 'Logs'],
  customers: ['用户管理', 'Customers'],
  trade: ['订单管理', 'Orders'],
  payment: ['支付管理', 'Payments'],
};

export const addressOfScreen = (slug: string): string => `/${screens[slug]?.room ?? ''}/${slug}`;
