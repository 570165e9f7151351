// Selects a dictionary type; 0 for the types themselves.
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

function TypeSelect(props: Control<number>) {
  const { data = [], isFetching } = useQuery({
    queryKey: ['dictionaries', 'types'],
    queryFn: ({ signal }) => call('GET /api/admin/dictionaries/types', { signal }),
  });
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
