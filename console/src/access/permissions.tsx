// Permissions that can be granted.
import { code, flag, named, status, text, time } from '../parts/show/cells.tsx';
import {
  choice,
  position,
  note,
  onOff,
  option,
  status as statusFilter,
  slug,
  words,
} from '../parts/form/fields.tsx';
import { resource } from '../parts/resource.ts';
import { states } from '../parts/show/states.tsx';

const methods = states({
  GET: ['读取 GET', 'GET', 'blue'],
  POST: ['新建 POST', 'POST', 'green'],
  PUT: ['修改 PUT', 'PUT', 'gold'],
  DELETE: ['删除 DELETE', 'DELETE', 'red'],
});

const fields = {
  name: words(),
  slug: slug(),
  method: choice(methods),
  path: words(),
  menu_id: option('menu'),
  description: note(2),
  status: onOff(),
  sort: position(),
};

export default resource('GET /api/admin/permissions', {
  name: 'permissions',
  title: ['权限', 'Permissions'],
  one: ['权限', 'permission'],
  label: 'name',
  labels: {
    menu: ['菜单', 'Menu'],
    menu_id: ['菜单', 'Menu'],
    is_builtin: ['内置', 'Built in'],
  },
  stale: ['identity'],
  filters: {
    name: words(),
    slug: words(),
    path: words(),
    method: choice(methods),
    menu_id: option('menu'),
    status: statusFilter(),
  },
  sortable: ['name', 'slug', 'created_at'],
  columns: {
    name: text(200),
    slug: code(200),
    method: code(84),
    path: code(240),
    menu: named('title', undefined, 120),
    is_builtin: flag(100),
    status: status(),
  },
  folded: ['is_builtin'],
  more: { description: text(), created_at: time(), updated_at: time() },
  show: 'GET /api/admin/permissions/{id}',
  create: { route: 'POST /api/admin/permissions', fields },
  update: { route: 'PUT /api/admin/permissions/{id}', fields },
  remove: 'DELETE /api/admin/permissions/{id}',
  removable: ({ is_builtin }, own) => !is_builtin || own.is_super_admin,
});
