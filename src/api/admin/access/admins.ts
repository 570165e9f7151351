// /admins: the administrators.
import Joi from 'joi';
import { assertDiffersFromUsername, newPassword } from '../../../lib/secrets/password-policy.js';
import {
  email,
  idOrNone,
  ids,
  phone,
  status,
  nonEmptyText,
  webAddress,
  username,
} from '../../../lib/input/schema.js';
import {
  type AdminFields,
  adminQuery,
  createAdmin,
  deleteAdmin,
  endSessionsOf,
  getAdmin,
  listAdmins,
  type NewAdmin,
  resetAdminPassword,
  updateAdmin,
} from '../../../models/access/admin.js';
import { Admin } from '../../../models/access/tables.js';
import { exportRoutes } from '../../declare/export-routes.js';
import { adminKeys } from '../../declare/records.js';
import { enabled, integer, keysOf, pageOf, record, resource } from '../../declare/response.js';
import { can, route } from '../../declare/route.js';

const admin = resource('Admin', { ...keysOf(Admin), ...adminKeys, status: enabled() });

const fields = {
  nickname: nonEmptyText(50).allow(''),
  email: email(),
  phone: phone(),
  avatar: webAddress(500),
  department_id: idOrNone(),
  role_ids: ids(100),
  status: status(),
};

export const routes = [
  route('GET', '/admins', {
    name: 'listAdmins',
    summary: 'List administrators',
    description: '`department_id` includes the departments below it.',
    access: can('admin.index', '查看管理员列表', 'List administrators'),
    query: adminQuery,
    response: pageOf(admin),
    handle: ({ query }) => listAdmins(query),
  }),
  route('POST', '/admins', {
    name: 'createAdmin',
    summary: 'Create an administrator',
    access: can('admin.store', '创建管理员', 'Create administrators'),
    body: Joi.object<NewAdmin, true>({
      ...fields,
      nickname: fields.nickname.required(),
      username: username().required(),
      password: newPassword().required(),
    }),
    fails: [
      'admin_not_found',
      'department_unknown',
      'grant_beyond_own',
      'menu_unknown',
      'permission_unknown',
      'role_unknown',
      'super_admin_protected',
      'username_exists',
    ],
    response: admin,
    async handle({ admin: holder, body }) {
      assertDiffersFromUsername(body.password, body.username);
      return getAdmin(await createAdmin(holder, body));
    },
    repeat: (id) => getAdmin(id),
  }),
  ...exportRoutes('admins', { zh: '管理员', en: 'administrators' }),
  route('GET', '/admins/{id}', {
    name: 'showAdmin',
    summary: 'Show an administrator',
    access: can('admin.show', '查看管理员', 'Show administrators'),
    fails: ['admin_not_found'],
    response: admin,
    handle: ({ params }) => getAdmin(params.id),
  }),
  route('PUT', '/admins/{id}', {
    name: 'updateAdmin',
    summary: 'Change an administrator',
    description: 'Only the fields sent change; `role_ids` replaces the roles. The username is fixed.',
    access: can('admin.update', '修改管理员', 'Change administrators'),
    body: Joi.object<Partial<AdminFields>, true>(fields),
    fails: [
      'admin_disable_self',
      'admin_not_found',
      'department_unknown',
      'grant_beyond_own',
      'last_super_admin',
      'menu_unknown',
      'permission_unknown',
      'role_unknown',
      'super_admin_protected',
    ],
    response: admin,
    subject: ({ params }, t) => getAdmin(params.id, t),
    async handle({ admin: holder, params, body }) {
      await updateAdmin(holder, params.id, body);
      return getAdmin(params.id);
    },
  }),
  route('DELETE', '/admins/{id}', {
    name: 'deleteAdmin',
    summary: 'Delete an administrator',
    access: can('admin.destroy', '删除管理员', 'Delete administrators'),
    fails: [
      'admin_delete_self',
      'admin_not_found',
      'grant_beyond_own',
      'last_super_admin',
      'super_admin_protected',
    ],
    subject: ({ params }, t) => getAdmin(params.id, t),
    handle: ({ admin: holder, params }) => deleteAdmin(holder, params.id),
  }),
  route('PUT', '/admins/{id}/password', {
    name: 'resetAdminPassword',
    summary: 'Set a new password and end all sessions of that administrator',
    access: can('admin.reset_password', '重置密码', 'Reset passwords'),
    body: Joi.object<{ password: string }, true>({ password: newPassword().required() }),
    fails: ['admin_not_found', 'grant_beyond_own', 'super_admin_protected'],
    async handle({ admin: holder, params, body }) {
      const { username } = await getAdmin(params.id);
      assertDiffersFromUsername(body.password, username);
      await resetAdminPassword(holder, params.id, body.password);
    },
  }),
  route('DELETE', '/admins/{id}/tokens', {
    name: 'endAdminSessions',
    summary: 'End all sessions of an administrator',
    access: can('admin.kick_out', '强制管理员下线', 'End sessions of administrators'),
    fails: ['admin_not_found', 'grant_beyond_own', 'super_admin_protected'],
    response: record({ count: integer() }),
    handle: async ({ admin: holder, params }) => ({ count: await endSessionsOf(holder, params.id) }),
  }),
];
