// Every route of the service. A fixed path stands before one with a parameter in the same place.
import { routes as admins } from './admin/admins.js';
import { routes as login } from './admin/login.js';
import { routes as menus } from './admin/menus.js';
import { routes as options } from './admin/options.js';
import { routes as orders } from './admin/orders.js';
import { routes as paymentMethods } from './admin/payment-methods.js';
import { routes as payments } from './admin/payments.js';
import { routes as permissions } from './admin/permissions.js';
import { routes as roles } from './admin/roles.js';
import { routes as session } from './admin/session.js';
import { routes as users } from './admin/users.js';
import { routes as health } from './health.js';
import { routes as paymentNotify } from './payment-notify.js';

export const routes = [
  ...[...login, ...session, ...admins, ...roles, ...menus, ...permissions, ...options],
  ...[...users, ...orders, ...payments, ...paymentMethods],
  ...[...paymentNotify, ...health],
];
