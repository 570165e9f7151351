// Every route of the service. A fixed path stands before one with a parameter in the same place.
import { routes as admins } from './admin/admins.js';
import { routes as attachmentChunks } from './admin/attachment-chunks.js';
import { routes as attachments } from './admin/attachments.js';
import { routes as blacklists } from './admin/blacklists.js';
import { routes as dashboard } from './admin/dashboard.js';
import { routes as departments } from './admin/departments.js';
import { routes as dictionaries } from './admin/dictionaries.js';
import { routes as exports } from './admin/exports.js';
import { routes as imports } from './admin/imports.js';
import { routes as loginLogs } from './admin/login-logs.js';
import { routes as login } from './admin/login.js';
import { routes as menus } from './admin/menus.js';
import { routes as monitor } from './admin/monitor.js';
import { routes as notifications } from './admin/notifications.js';
import { routes as onlineAdmins } from './admin/online-admins.js';
import { routes as operationLogs } from './admin/operation-logs.js';
import { routes as options } from './admin/options.js';
import { routes as orders } from './admin/orders.js';
import { routes as paymentMethods } from './admin/payment-methods.js';
import { routes as payments } from './admin/payments.js';
import { routes as permissions } from './admin/permissions.js';
import { routes as roles } from './admin/roles.js';
import { routes as session } from './admin/session.js';
import { routes as systemLogs } from './admin/system-logs.js';
import { routes as userBalanceLogs } from './admin/user-balance-logs.js';
import { routes as users } from './admin/users.js';
import { routes as health } from './health.js';
import { routes as paymentNotify } from './payment-notify.js';

export const routes = [
  ...[...login, ...session, ...admins, ...roles, ...menus, ...permissions, ...options],
  ...[...departments, ...dictionaries, ...blacklists, ...operationLogs, ...loginLogs, ...systemLogs],
  ...[...dashboard, ...monitor, ...onlineAdmins, ...notifications],
  ...[...attachmentChunks, ...attachments, ...exports, ...imports],
  ...[...users, ...userBalanceLogs, ...orders, ...payments, ...paymentMethods],
  ...[...paymentNotify, ...health],
];
