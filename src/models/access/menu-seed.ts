// The menus a new deployment starts with. A page's slug is the URL segment of its resource.

export interface MenuSeed {
  title: string;
  slug: string;
  path: string;
  icon?: string;
  /** Hidden while that module is switched off. */
  module?: 'orders' | 'payments';
  /** A directory has children, a page has none. */
  children?: MenuSeed[];
}

export const menuSeeds: MenuSeed[] = [
  { title: '仪表盘', slug: 'dashboard', path: '/dashboard', icon: 'dashboard' },
  {
    title: '系统管理',
    slug: 'system',
    path: '/system',
    icon: 'setting',
    children: [
      { title: '管理员', slug: 'admins', path: '/system/admins' },
      { title: '角色', slug: 'roles', path: '/system/roles' },
      { title: '菜单', slug: 'menus', path: '/system/menus' },
      { title: '权限', slug: 'permissions', path: '/system/permissions' },
      { title: '部门', slug: 'departments', path: '/system/departments' },
      { title: '字典', slug: 'dictionaries', path: '/system/dictionaries' },
      { title: 'IP 黑名单', slug: 'blacklists', path: '/system/blacklists' },
      { title: '在线管理员', slug: 'online-admins', path: '/system/online-admins' },
      { title: '附件', slug: 'attachments', path: '/system/attachments' },
      { title: '导出', slug: 'exports', path: '/system/exports' },
      { title: '导入', slug: 'imports', path: '/system/imports' },
      { title: '通知', slug: 'notifications', path: '/system/notifications' },
      { title: '系统监控', slug: 'monitor', path: '/system/monitor' },
      { title: '任务队列', slug: 'queues', path: '/system/queues' },
      { title: '失败任务', slug: 'failed-jobs', path: '/system/failed-jobs' },
    ],
  },
  {
    title: '日志',
    slug: 'logs',
    path: '/logs',
    icon: 'file-text',
    children: [
      { title: '操作日志', slug: 'operation-logs', path: '/logs/operations' },
      { title: '登录日志', slug: 'login-logs', path: '/logs/logins' },
      { title: '系统日志', slug: 'system-logs', path: '/logs/system' },
    ],
  },
  {
    title: '用户管理',
    slug: 'customers',
    path: '/customers',
    icon: 'user',
    children: [
      { title: '用户', slug: 'users', path: '/customers/users' },
      { title: '余额记录', slug: 'user-balance-logs', path: '/customers/balance-logs' },
    ],
  },
  {
    title: '订单管理',
    slug: 'trade',
    path: '/trade',
    icon: 'shopping-cart',
    module: 'orders',
    children: [{ title: '订单', slug: 'orders', path: '/trade/orders' }],
  },
  {
    title: '支付管理',
    slug: 'payment',
    path: '/payment',
    icon: 'credit-card',
    module: 'payments',
    children: [
      { title: '支付记录', slug: 'payments', path: '/payment/payments' },
      { title: '支付方式', slug: 'payment-methods', path: '/payment/methods' },
    ],
  },
];
