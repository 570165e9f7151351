// Sets of permissions.
import { code, count, status, text, time } from '../parts/show/cells.tsx';
import { position, note, onOff, slug, status as statusFilter, words } from '../parts/form/fields.tsx';
import { resource } from '../parts/resource.ts';
import { menuTree, permissionTree } from './permission-tree.tsx';
import { RoleRights } from './role-rights.tsx';

const fields = {
  name: words(),
  slug: slug(),
  permission_ids: permissionTree(),
  menu_ids: menuTree(),
  description: note(2),
  status: onOff(),
  sort: position(),
};

export default resource('GET /api/admin/roles', {
  name: 'roles',
  title: ['角色', 'Roles'],
  one: ['角色', 'role'],
  label: 'name',
  labels: { permission_ids: ['权限', 'Permissions'], menu_ids: ['菜单', 'Menus'] },
  stale: ['identity'],
  filters: { name: words(), slug: words(), status: statusFilter() },
  sortable: ['name', 'sort', 'created_at'],
  folded: ['sort'],
  below: RoleRights,
  columns: {
    name: text(),
    slug: code(160),
    description: text(240),
    sort: count(110),
    status: status(),
    created_at: time(),
  },
  show: 'GET /api/admin/roles/{id}',
  create: { route: 'POST /api/admin/roles', wide: true, fields },
  update: { route: 'PUT /api/admin/roles/{id}', wide: true, fields },
  remove: 'DELETE /api/admin/roles/{id}',
  removable: ({ slug, in_use }) => slug !== 'super-admin' && !in_use,
});
