// Dictionary types and their entries.
import { code, count, custom, status, text, time } from '../parts/show/cells.tsx';
import { integer, note, onOff, status as statusFilter, words } from '../parts/form/fields.tsx';
import { resource } from '../parts/resource.ts';
import { TypeName, typePicker } from './type-picker.tsx';

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
  one: ['字典项', 'dictionary entry'],
  empty: [
    '供其他系统使用的取值，按类型归类。先新建类型，再添加字典项',
    'Lists of values for other systems, by type. Start with a type, then add its entries',
  ],
  label: 'name',
  labels: { parent_id: ['类型', 'Type'], value: ['值', 'Value'] },
  stale: ['dictionaries'],
  filters: { parent_id: typePicker(), name: words(), code: words(), status: statusFilter() },
  columns: {
    name: text(),
    parent_id: custom<number>((id) => <TypeName id={id} />, 130),
    code: code(150),
    value: text(),
    description: text(220),
    sort: count(90),
    status: status(),
    created_at: time(),
  },
  folded: ['sort', 'created_at'],
  show: 'GET /api/admin/dictionaries/{id}',
  create: { route: 'POST /api/admin/dictionaries', fields },
  update: { route: 'PUT /api/admin/dictionaries/{id}', fields },
  remove: 'DELETE /api/admin/dictionaries/{id}',
  removable: ({ in_use }) => !in_use,
});
