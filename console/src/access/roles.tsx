// Sets of permissions.
import { code, count, status, text, time } from '../parts/cells.tsx';
import { integer, note, onOff, status as statusFilter, words } from '../parts/fields.tsx';
import { resource } from '../parts/resource.ts';
import { menuTree, permissionTree } from './permission-tree.tsx';

const fields = {
  name: words(),
  slug: words(),
  permission_ids: permissionTree(),
  menu_ids: menuTree(),
  description: note(2),
  status: onOff(),
  sort: integer(-1_000_000, 1_000_000),
};

export default resource('GET /api/admin/roles', {
  name: 'roles',
  title: ['角色', 'Roles'],
  label: 'name',
  labels: { permission_ids: ['权限', 'Permissions'], menu_ids: ['菜单', 'Menus'] },
  stale: ['identity'],
  filters: { name: words(), slug: words(), status: statusFilter() },
  sortable: ['name', 'sort', 'created_at'],
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
});
