// The departments administrators belong to.
import { code, count, status, text, time } from '../parts/show/cells.tsx';
import { position, note, onOff, parent, status as statusFilter, words } from '../parts/form/fields.tsx';
import { resource } from '../parts/resource.ts';

const fields = {
  parent_id: parent('department'),
  name: words(),
  code: words(),
  leader: words(),
  phone: words(),
  email: words(),
  remark: note(2),
  status: onOff(),
  sort: position(),
};

export default resource('GET /api/admin/departments', {
  name: 'departments',
  title: ['部门', 'Departments'],
  one: ['部门', 'department'],
  empty: [
    '管理员所属的部门。从最上级部门开始新建',
    'The units administrators belong to. Start with the top one',
  ],
  label: 'name',
  labels: { parent_id: ['上级部门', 'Parent department'], leader: ['负责人', 'Manager'] },
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
  folded: ['sort', 'created_at'],
  more: { email: text(), remark: text(), updated_at: time() },
  show: 'GET /api/admin/departments/{id}',
  create: { route: 'POST /api/admin/departments', fields },
  update: { route: 'PUT /api/admin/departments/{id}', fields },
  remove: 'DELETE /api/admin/departments/{id}',
  removable: ({ in_use }) => !in_use,
});
