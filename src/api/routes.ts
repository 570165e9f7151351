// Every route of the service. A fixed path comes before one with a parameter in the same place.
import { routes as admins } from './admin/access/admins.js';
import { routes as attachmentChunks } from './admin/files/attachment-chunks.js';
import { routes as attachments } from './admin/files/attachments.js';
import { routes as blacklists } from './admin/office/blacklists.js';
import { routes as dashboard } from './admin/office/dashboard.js';
import { routes as departments } from './admin/access/departments.js';
import { routes as dictionaries } from './admin/office/dictionaries.js';
import { routes as exports } from './admin/exports/exports.js';
import { routes as failedJobs } from './admin/office/failed-jobs.js';
import { routes as imports } from './admin/imports/imports.js';
import { routes as loginLogs } from './admin/logs/login-logs.js';
import { routes as login } from './admin/access/login.js';
import { routes as menus } from './admin/access/menus.js';
import { routes as monitor } from './admin/office/monitor.js';
import { routes as notifications } from './admin/office/notifications.js';
import { routes as onlineAdmins } from './admin/access/online-admins.js';
import { routes as operationLogs } from './admin/logs/operation-logs.js';
import { routes as options } from './admin/access/options.js';
import { routes as orders } from './admin/trade/orders.js';
import { routes as paymentMethods } from './admin/trade/payment-methods.js';
import { routes as paymentChannel } from './admin/trade/payment-channel.js';
import { routes as payments } from './admin/trade/payments.js';
import { routes as permissions } from './admin/access/permissions.js';
import { routes as queues } from './admin/office/queues.js';
import { routes as refunds } from './admin/trade/refunds.js';
import { routes as roles } from './admin/access/roles.js';
import { routes as search } from './admin/office/search.js';
import { routes as session } from './admin/access/session.js';
import { routes as systemLogs } from './admin/logs/system-logs.js';
import { routes as userBalanceLogs } from './admin/trade/user-balance-logs.js';
import { routes as users } from './admin/trade/users.js';
import type { Route } from './declare/route.js';
import { routes as health } from './http/health.js';
import { routes as paymentNotify } from './payment-notify.js';

/** Routes that are switched off together with that module. */
const ofModule = (module: Route['module'], those: readonly Route[]): Route[] =>
  those.map((one) => ({ ...one, module }));

export const routes = [
  ...login,
  ...session,
  ...admins,
  ...roles,
  ...menus,
  ...permissions,
  ...options,
  ...search,
  ...departments,
  ...dictionaries,
  ...blacklists,
  ...operationLogs,
  ...loginLogs,
  ...systemLogs,
  ...dashboard,
  ...monitor,
  ...queues,
  ...failedJobs,
  ...onlineAdmins,
  ...notifications,
  ...attachmentChunks,
  ...attachments,
  ...exports,
  ...imports,
  ...users,
  ...userBalanceLogs,
  ...ofModule('orders', orders),
  ...ofModule('payments', [...payments, ...paymentChannel, ...refunds, ...paymentMethods]),
  ...paymentNotify,
  ...health,
];
