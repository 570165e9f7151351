// Selects or names a dictionary type; 0 for the types themselves.
import { useQuery } from '@tanstack/react-query';
import { Select } from 'antd';
import { call } from '../contract/api.ts';
import { texts } from '../contract/texts.ts';
import type { Control, Field } from '../parts/form/fields.tsx';

const t = texts({ 'zh-CN': { types: '（类型本身）' }, 'en-US': { types: '(types only)' } });

export const typePicker = (): Field<number> => ({
  check: (text) => /^\d+$/.test(text),
  parse: Number,
  control: (props) => <TypeSelect {...props} />,
});

const useTypes = () =>
  useQuery({
    queryKey: ['dictionaries', 'types'],
    queryFn: ({ signal }) => call('GET /api/admin/dictionaries/types', { signal }),
  });

/** The type of an entry; a type has none. */
export function TypeName({ id }: { id: number }) {
  const { data } = useTypes();
  if (id === 0) return <span className="none">–</span>;
  const name = data?.find((one) => one.id === id)?.name;
  return (
    <span className="cell-text" title={name}>
      {name}
    </span>
  );
}

function TypeSelect(props: Control<number>) {
  const { data = [], isFetching } = useTypes();
  const types = data.map(({ id, name }) => ({ value: id, label: name }));
  return (
    <Select<number>
      {...props}
      allowClear
      loading={isFetching}
      options={[{ value: 0, label: t.types }, ...types]}
    />
  );
}
