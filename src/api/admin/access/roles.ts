// /roles: named sets of permissions and menus.
import Joi from 'joi';
import { ids, optionalMultiline, slug, sort, status, nonEmptyText } from '../../../lib/input/schema.js';
import {
  createRole,
  deleteRole,
  getRole,
  listRoles,
  type RoleFields,
  roleQuery,
  updateRole,
} from '../../../models/access/role.js';
import { Menu, Permission, Role } from '../../../models/access/tables.js';
import { enabled, flag, keysOf, listOf, pageOf, record, resource } from '../../declare/response.js';
import { can, required, route } from '../../declare/route.js';

const keys = {
  ...keysOf(Role),
  status: enabled(),
  in_use: flag(),
  permission_ids: listOf(Joi.number().integer()),
  menu_ids: listOf(Joi.number().integer()),
};

const detail = resource('RoleDetail', {
  ...keys,
  permissions: listOf(record(keysOf(Permission, 'id', 'name', 'slug'))),
  menus: listOf(record(keysOf(Menu, 'id', 'title', 'slug'))),
});

const fields = {
  name: nonEmptyText(50),
  slug: slug(50),
  description: optionalMultiline(255),
  status: status(),
  sort: sort(),
  permission_ids: ids(2000),
  menu_ids: ids(2000),
};

const writing = [
  'grant_beyond_own',
  'menu_unknown',
  'permission_unknown',
  'role_not_found',
  'role_slug_exists',
  'role_unknown',
] as const;

export const routes = [
  route('GET', '/roles', {
    name: 'listRoles',
    summary: 'List roles',
    access: can('role.index', '查看角色列表', 'List roles'),
    query: roleQuery,
    response: pageOf(resource('Role', keys)),
    handle: ({ query }) => listRoles(query),
  }),
  route('POST', '/roles', {
    name: 'createRole',
    summary: 'Create a role',
    access: can('role.store', '创建角色', 'Create roles'),
    body: Joi.object<RoleFields, true>(fields).fork(['name', 'slug'], required),
    fails: writing,
    response: detail,
    handle: async ({ admin, body }) => getRole(await createRole(admin, body)),
    repeat: (id) => getRole(id),
  }),
  route('GET', '/roles/{id}', {
    name: 'showRole',
    summary: 'Show a role with its permissions and menus',
    access: can('role.show', '查看角色', 'Show roles'),
    fails: ['role_not_found'],
    response: detail,
    handle: ({ params }) => getRole(params.id),
  }),
  route('PUT', '/roles/{id}', {
    name: 'updateRole',
    summary: 'Change a role',
    description: 'Only the fields sent change; `permission_ids` and `menu_ids` replace the sets.',
    access: can('role.update', '修改角色', 'Change roles'),
    body: Joi.object<Partial<RoleFields>, true>(fields),
    fails: [...writing, 'super_admin_protected', 'super_admin_role_protected'],
    response: detail,
    subject: ({ params }, t) => getRole(params.id, t),
    async handle({ admin, params, body }) {
      await updateRole(admin, params.id, body);
      return getRole(params.id);
    },
  }),
  route('DELETE', '/roles/{id}', {
    name: 'deleteRole',
    summary: 'Delete a role that nobody has',
    access: can('role.destroy', '删除角色', 'Delete roles'),
    fails: [
      'grant_beyond_own',
      'role_in_use',
      'role_not_found',
      'super_admin_protected',
      'super_admin_role_protected',
    ],
    subject: ({ params }, t) => getRole(params.id, t),
    handle: ({ admin, params }) => deleteRole(admin, params.id),
  }),
];
