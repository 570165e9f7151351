// /users: the customers who place orders.
import Joi from 'joi';
import { assertDiffersFromUsername, newPassword } from '../../../lib/secrets/password-policy.js';
import { email, optionalText, phone, status, webAddress, username } from '../../../lib/input/schema.js';
import { changeBalance, changed, type BalanceChange } from '../../../models/trade/balance.js';
import { getBalanceLog } from '../../../models/trade/balance-log.js';
import {
  createUser,
  deleteUser,
  getUser,
  listUsers,
  resetUserPassword,
  updateUser,
  type UserFields,
  userQuery,
} from '../../../models/trade/user.js';
import { User } from '../../../models/trade/tables.js';
import { exportRoutes } from '../../declare/export-routes.js';
import { balanceChanged, balanceChangeKeys } from '../../declare/records.js';
import { enabled, keysOf, pageOf, resource } from '../../declare/response.js';
import { can, route } from '../../declare/route.js';

const user = resource('User', { ...keysOf(User), status: enabled() });

const fields = {
  username: username(),
  nickname: optionalText(50),
  avatar: webAddress(500),
  email: email(),
  phone: phone(),
  status: status(),
};

export const routes = [
  route('GET', '/users', {
    name: 'listUsers',
    summary: 'List users',
    access: can('user.index', '查看用户列表', 'List users'),
    query: userQuery,
    response: pageOf(user),
    handle: ({ query }) => listUsers(query),
  }),
  route('POST', '/users', {
    name: 'createUser',
    summary: 'Create a user',
    access: can('user.store', '创建用户', 'Create users'),
    body: Joi.object<UserFields, true>({
      ...fields,
      username: fields.username.required(),
      password: newPassword(),
    }),
    fails: ['user_name_exists', 'user_not_found'],
    response: user,
    handle: async ({ body }) => getUser(await createUser(body)),
    repeat: (id) => getUser(id),
  }),
  ...exportRoutes('users', { zh: '用户', en: 'users' }),
  route('GET', '/users/{id}', {
    name: 'showUser',
    summary: 'Show a user',
    access: can('user.show', '查看用户', 'Show users'),
    fails: ['user_not_found'],
    response: user,
    handle: ({ params }) => getUser(params.id),
  }),
  route('PUT', '/users/{id}', {
    name: 'updateUser',
    summary: 'Change a user',
    description: 'Only the fields sent change. The balance has a route of its own.',
    access: can('user.update', '修改用户', 'Change users'),
    body: Joi.object<Partial<Omit<UserFields, 'password'>>, true>(fields),
    fails: ['user_name_exists', 'user_not_found'],
    response: user,
    subject: ({ params }, t) => getUser(params.id, t),
    async handle({ params, body }) {
      await updateUser(params.id, body);
      return getUser(params.id);
    },
  }),
  route('DELETE', '/users/{id}', {
    name: 'deleteUser',
    summary: 'Delete a user whose balance is zero',
    description: 'Their pending orders stay payable until they expire, and the username stays taken.',
    access: can('user.destroy', '删除用户', 'Delete users'),
    fails: ['user_has_balance', 'user_not_found'],
    subject: ({ params }, t) => getUser(params.id, t),
    handle: ({ params }) => deleteUser(params.id),
  }),
  route('PUT', '/users/{id}/password', {
    name: 'setUserPassword',
    summary: 'Set a new password',
    access: can('user.password', '设置用户密码', 'Set passwords of users'),
    body: Joi.object<{ password: string }, true>({ password: newPassword().required() }),
    fails: ['user_not_found'],
    async handle({ params, body }) {
      const { username } = await getUser(params.id);
      assertDiffersFromUsername(body.password, username);
      await resetUserPassword(params.id, body.password);
    },
  }),
  route('POST', '/users/{id}/update-balance', {
    name: 'updateUserBalance',
    summary: 'Change the balance of a user',
    description:
      'An income or a refund adds to the balance, an expense takes from it, never below zero. The same `request_id` never applies twice: repeating it returns what the first request returned.',
    access: can('user.update_balance', '调整用户余额', 'Change balances of users'),
    body: Joi.object<BalanceChange, true>(balanceChangeKeys),
    fails: [
      'balance_limit_exceeded',
      'balance_log_not_found',
      'insufficient_balance',
      'request_id_reused',
      'user_not_found',
    ],
    response: balanceChanged,
    handle: ({ admin, params, body }) => changeBalance(params.id, body, admin),
    repeat: async (id) => changed(await getBalanceLog(id)),
  }),
];
