// The departments administrators belong to.
import { code, count, status, text, time } from '../parts/cells.tsx';
import { integer, note, onOff, option, status as statusFilter, words } from '../parts/fields.tsx';
import { resource } from '../parts/resource.ts';

const fields = {
  parent_id: option('department'),
  name: words(),
  code: words(),
  leader: words(),
  phone: words(),
  email: words(),
  remark: note(2),
  status: onOff(),
  sort: integer(-1_000_000, 1_000_000),
};

export default resource('GET /api/admin/departments', {
  name: 'departments',
  title: ['部门', 'Departments'],
  empty: ['还没有部门', 'No departments yet'],
  label: 'name',
  labels: { parent_id: ['上级部门', 'Below'], leader: ['负责人', 'Head'] },
  stale: ['identity'],
  filters: { name: words(), status: statusFilter() },
  columns: {
    name: text(260),
    code: code(),
    leader: text(),
    phone: text(),
    sort: count(90),
    status: status(),
    created_at: time(),
  },
  folded: ['created_at'],
  more: { email: text(), remark: text(), updated_at: time() },
  show: 'GET /api/admin/departments/{id}',
  create: { route: 'POST /api/admin/departments', fields },
  update: { route: 'PUT /api/admin/departments/{id}', fields },
  remove: 'DELETE /api/admin/departments/{id}',
});
