// Dictionary types and their entries.
import { useQuery } from '@tanstack/react-query';
import { Select } from 'antd';
import { call } from '../contract/api.ts';
import { texts } from '../contract/texts.ts';
import { clearing } from '../parts/form/clearing.tsx';
import { code, count, custom, status, text, time } from '../parts/show/cells.tsx';
import {
  type Control,
  type Field,
  position,
  note,
  onOff,
  status as statusFilter,
  words,
} from '../parts/form/fields.tsx';
import { resource } from '../parts/resource.ts';

const t = texts({
  types: ['（类型本身）', '(types only)'],
});

const typePicker = (): Field<number> => ({
  check: (text) => /^\d+$/.test(text),
  parse: Number,
  control: (props, row) => <TypeSelect {...props} entry={row?.id} />,
});

const useTypes = () =>
  useQuery({
    queryKey: ['dictionaries', 'types'],
    queryFn: ({ signal }) => call('GET /api/admin/dictionaries/types', { signal }),
    meta: { scopes: ['dictionaries'] },
  });

/** The type of an entry; a type has none. */
function TypeName({ id }: { id: number }) {
  const { data } = useTypes();
  if (id === 0) return <span className="none">–</span>;
  const name = data?.find((one) => one.id === id)?.name;
  return (
    <span className="cell-text" title={name}>
      {name}
    </span>
  );
}

function TypeSelect({ entry, ...props }: Control<number> & { entry: unknown }) {
  const { data = [], isFetching } = useTypes();
  // No type belongs to itself.
  const types = data.filter(({ id }) => id !== entry).map(({ id, name }) => ({ value: id, label: name }));
  return (
    <Select<number>
      {...props}
      allowClear={clearing()}
      loading={isFetching}
      options={[{ value: 0, label: t.types }, ...types]}
    />
  );
}

const fields = {
  parent_id: typePicker(),
  name: words(),
  code: words(),
  value: words(),
  description: note(2),
  status: onOff(),
  sort: position(),
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
