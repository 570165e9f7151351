// /permissions: what roles can be granted.
import Joi from 'joi';
import { idOrNone, optionalMultiline, slug, sort, status, nonEmptyText } from '../../../lib/input/schema.js';
import {
  createPermission,
  deletePermission,
  getPermission,
  listPermissions,
  type PermissionFields,
  permissionMethod,
  permissionQuery,
  updatePermission,
} from '../../../models/access/permission.js';
import { Menu, Permission } from '../../../models/access/tables.js';
import { covers } from '../../declare/permission.js';
import { enabled, keysOf, pageOf, recordOrNull, resource } from '../../declare/response.js';
import { can, required, route } from '../../declare/route.js';

const permission = resource('Permission', {
  ...keysOf(Permission),
  status: enabled(),
  menu: recordOrNull(keysOf(Menu, 'id', 'title')),
});

const fields = {
  name: nonEmptyText(100),
  slug: slug(),
  method: permissionMethod,
  path: nonEmptyText(255).pattern(/^\/(?!.*\*\*)[\x21-\x7e]*$/),
  menu_id: idOrNone(),
  description: optionalMultiline(255),
  status: status(),
  sort: sort(),
};

export const routes = [
  route('GET', '/permissions', {
    name: 'listPermissions',
    summary: 'List permissions',
    access: can('permission.index', '查看权限列表', 'List permissions'),
    query: permissionQuery,
    response: pageOf(permission),
    handle: ({ query }) => listPermissions(query),
  }),
  route('POST', '/permissions', {
    name: 'createPermission',
    summary: 'Create a permission',
    access: can('permission.store', '创建权限', 'Create permissions'),
    body: Joi.object<PermissionFields, true>(fields).fork(['name', 'slug', 'method', 'path'], required),
    fails: ['grant_beyond_own', 'menu_unknown', 'permission_not_found', 'permission_slug_exists'],
    response: permission,
    handle: async ({ admin, body }) => getPermission(await createPermission(body, covers(admin))),
    repeat: (id) => getPermission(id),
  }),
  route('GET', '/permissions/{id}', {
    name: 'showPermission',
    summary: 'Show a permission',
    access: can('permission.show', '查看权限', 'Show permissions'),
    fails: ['permission_not_found'],
    response: permission,
    handle: ({ params }) => getPermission(params.id),
  }),
  route('PUT', '/permissions/{id}', {
    name: 'updatePermission',
    summary: 'Change a permission',
    access: can('permission.update', '修改权限', 'Change permissions'),
    body: Joi.object<Partial<PermissionFields>, true>(fields),
    fails: [
      'builtin_permission_protected',
      'grant_beyond_own',
      'menu_unknown',
      'permission_not_found',
      'permission_slug_exists',
    ],
    response: permission,
    subject: ({ params }, t) => getPermission(params.id, t),
    async handle({ admin, params, body }) {
      await updatePermission(admin, params.id, body, covers(admin));
      return getPermission(params.id);
    },
  }),
  route('DELETE', '/permissions/{id}', {
    name: 'deletePermission',
    summary: 'Delete a permission',
    access: can('permission.destroy', '删除权限', 'Delete permissions'),
    fails: ['builtin_permission_protected', 'grant_beyond_own', 'permission_not_found'],
    subject: ({ params }, t) => getPermission(params.id, t),
    handle: ({ admin, params }) => deletePermission(admin, params.id, covers(admin)),
  }),
];
