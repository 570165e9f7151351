// Keys and values of a channel's configuration. Secrets come as `***` and stay what they are when sent back like that.
import { DeleteOutlined, PlusOutlined } from '@ant-design/icons';
import { Button, Input } from 'antd';
import { texts } from '../contract/texts.ts';
import type { Control, Field } from './fields.tsx';

const t = texts({
  'zh-CN': { key: '键', value: '值', add: '添加一项', remove: '删除这一项' },
  'en-US': { key: 'Key', value: 'Value', add: 'Add a key', remove: 'Remove this key' },
});

type Pairs = Record<string, string>;

export const configuration = (): Field<Pairs> => ({
  isWide: true,
  isSecret: false,
  control: (props) => <Configuration {...props} />,
});

function Configuration({ value = {}, onChange, id }: Control<Pairs>) {
  const pairs = Object.entries(value);
  const set = (at: number, pair: [string, string]) =>
    onChange?.(Object.fromEntries(pairs.map((one, index) => (index === at ? pair : one))));
  return (
    <div className="lines" id={id}>
      {pairs.map(([key, text], at) => (
        <div className="pair" key={at}>
          <Input aria-label={t.key} value={key} onChange={({ target }) => set(at, [target.value, text])} />
          <Input.TextArea
            aria-label={`${t.value} ${key}`}
            rows={1}
            value={text}
            onChange={({ target }) => set(at, [key, target.value])}
          />
          <Button
            type="text"
            icon={<DeleteOutlined />}
            aria-label={`${t.remove} ${key}`}
            onClick={() => set(at, [key, ''])}
          />
        </div>
      ))}
      <Button icon={<PlusOutlined />} disabled={'' in value} onClick={() => onChange?.({ ...value, '': '' })}>
        {t.add}
      </Button>
    </div>
  );
}
