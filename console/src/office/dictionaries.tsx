// Dictionary types and their entries.
import { code, count, status, text, time } from '../parts/cells.tsx';
import { integer, note, onOff, status as statusFilter, words } from '../parts/fields.tsx';
import { resource } from '../parts/resource.ts';
import { typePicker } from './type-picker.tsx';

const fields = {
  parent_id: typePicker(),
  name: words(),
  code: words(),
  value: words(),
  description: note(2),
  status: onOff(),
  sort: integer(-1_000_000, 1_000_000),
};

export default resource('GET /api/admin/dictionaries', {
  name: 'dictionaries',
  title: ['字典', 'Dictionaries'],
  empty: ['还没有字典', 'No dictionaries yet'],
  label: 'name',
  labels: { parent_id: ['类型', 'Type'], value: ['值', 'Value'] },
  stale: ['dictionaries'],
  filters: { parent_id: typePicker(), name: words(), code: words(), status: statusFilter() },
  columns: {
    name: text(),
    code: code(),
    value: text(),
    description: text(220),
    sort: count(90),
    status: status(),
    created_at: time(),
  },
  folded: ['created_at'],
  show: 'GET /api/admin/dictionaries/{id}',
  create: { route: 'POST /api/admin/dictionaries', fields },
  update: { route: 'PUT /api/admin/dictionaries/{id}', fields },
  remove: 'DELETE /api/admin/dictionaries/{id}',
});
