// Deletes log entries older than a number of days.
import { ClearOutlined } from '@ant-design/icons';
import { useQueryClient } from '@tanstack/react-query';
import { App, Button } from 'antd';
import { useState } from 'react';
import type { Route } from '../../contract/api.ts';
import { plural, texts, type Both } from '../../contract/texts.ts';
import { integer } from '../form/fields.tsx';
import { FormDrawer } from '../form/form-drawer.tsx';
import { useMay } from '../show/profile.ts';

const t = texts({
  clean: ['清理', 'Clean up'],
  sure: [
    (count: number) => `确定删除 ${count} 天以前的记录？删除后无法恢复`,
    (count) =>
      `Delete the entries older than ${count} ${plural(count, 'day', 'days')}? They cannot be restored`,
  ],
  remove: ['删除', 'Delete'],
  done: [(count: number) => `已删除 ${count} 条`, (count) => `${count} deleted`],
});

const days: Both = ['删除多少天以前的记录', 'Delete entries older than (days)'];

export function CleanUpButton({ route }: { route: Route }) {
  const [isOpen, setOpen] = useState(false);
  const { message } = App.useApp();
  const client = useQueryClient();
  const may = useMay();
  if (!may(route)) return null;
  const done = (count: number) => {
    setOpen(false);
    void message.success(t.done(count));
    void client.invalidateQueries();
  };
  return (
    <>
      <Button icon={<ClearOutlined />} onClick={() => setOpen(true)}>
        {t.clean}
      </Button>
      {isOpen && (
        <FormDrawer
          title={t.clean}
          route={route}
          fields={{ days: integer(0, 36_500) }}
          labelOf={() => days}
          submit={t.clean}
          ask={({ days: count }) => ({ title: t.sure(Number(count)), button: t.remove, danger: true })}
          onClose={() => setOpen(false)}
          onDone={({ count }) => done(Number(count))}
        />
      )}
    </>
  );
}
