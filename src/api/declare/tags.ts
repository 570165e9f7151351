// The groups of the document: one per resource, by the first path segment.
import type { Route } from './route.js';

const groups: Record<string, readonly [name: string, description: string]> = {
  login: ['Sign-in', 'Signing in, with captchas when they are asked for'],
  info: ['Own account', 'The signed-in administrator: profile, password, session'],
  admins: ['Administrators', 'Those who may sign in here'],
  roles: ['Roles', 'Sets of permissions and menus that administrators hold'],
  menus: ['Menus', 'The tree of pages that a client shows'],
  permissions: ['Permissions', 'Rights to call an operation'],
  search: ['Search', 'Records of every kind by one text'],
  options: ['Options', 'Entries for select boxes'],
  departments: ['Departments', 'The tree administrators belong to'],
  dictionaries: ['Dictionaries', 'Types and their values, maintained by administrators'],
  blacklists: ['Blacklist', 'Addresses that are refused'],
  'operation-logs': ['Operation log', 'What administrators did, with what it changed'],
  'login-logs': ['Sign-in log', 'Who signed in or was refused'],
  'system-logs': ['System log', 'Warnings and errors of the service'],
  dashboard: ['Dashboard', 'Present figures, those of today and of the last months'],
  monitor: ['Monitor', 'Live figures of machine, process, queues, database and Redis'],
  queues: ['Queues', 'Work that waits, and work that failed for good'],
  'online-admins': ['Sessions', 'Who is signed in'],
  notifications: ['Notifications', 'Messages to administrators, and tickets for sockets and streams'],
  attachments: ['Attachments', 'Files, at once or in chunks'],
  exports: ['Exports', 'Lists as CSV or XLSX files'],
  imports: ['Imports', 'Files of orders'],
  users: ['Users', 'Customers with a balance'],
  'user-balance-logs': ['Balances', 'The ledger of balances'],
  orders: ['Orders', 'What users are to pay for'],
  payments: ['Payments', 'Ways to pay an order, over a payment method'],
  refunds: ['Refunds', 'Money of payments on its way back'],
  'payment-methods': ['Payment methods', 'Channels with their configuration'],
  notify: ['Payment callbacks', 'What payment companies send, signed'],
  health: ['Health', 'For supervisors and balancers'],
};

/** Segments in the group of another. */
const belongs: Record<string, keyof typeof groups> = {
  logout: 'info',
  heartbeat: 'info',
  profile: 'info',
  password: 'info',
  'failed-jobs': 'queues',
  api: 'notify',
  healthz: 'health',
  readyz: 'health',
};

/** The group of an operation. */
export function tagOf({ path }: Pick<Route, 'path'>): string {
  return groups[segmentOf(path)]?.[0] ?? segmentOf(path);
}

/** The groups of these operations, with their descriptions. */
export function tags(routes: readonly Route[]): { name: string; description?: string }[] {
  const used = new Set(routes.map(({ path }) => segmentOf(path)));
  return [...used].map((segment) => {
    const [name = segment, description] = groups[segment] ?? [];
    return { name, description };
  });
}

function segmentOf(path: string): string {
  const segment = path.split('/')[1] ?? '';
  return belongs[segment] ?? segment;
}
