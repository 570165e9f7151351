// Exports exactly what a list shows; the progress continues on the exports page.
import { DownloadOutlined } from '@ant-design/icons';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { App, Button, Dropdown } from 'antd';
import { useEffect, useState } from 'react';
import { call, download, type Route } from '../../contract/api.ts';
import { texts } from '../../contract/texts.ts';
import { failureOf } from '../show/problem.tsx';
import { saveFile } from '../show/save-file.ts';
import { useMay } from '../show/profile.ts';
import type { AnyRow } from '../resource.ts';

const t = texts({
  'zh-CN': { export: '导出', exporting: '正在导出', done: '导出完成', failed: '导出失败', save: '下载文件' },
  'en-US': {
    export: 'Export',
    exporting: 'Exporting',
    done: 'Export is ready',
    failed: 'The export failed',
    save: 'Download',
  },
});

const pollMs = 700;

export function ExportButton({ route, filters }: { route: Route; filters: AnyRow }) {
  const [id, setId] = useState<number>();
  const { modal } = App.useApp();
  const client = useQueryClient();
  const ask = useMutation({
    mutationFn: (format: string) => call(route, { body: { ...filters, format } as never, zoned: true }),
    onSuccess: (answer) => {
      setId((answer as { export_id: number }).export_id);
      void client.invalidateQueries({ queryKey: ['exports'] });
    },
    onError: (error) => void modal.error({ title: failureOf(error).message }),
  });
  if (id !== undefined) return <Running id={id} onEnd={() => setId(undefined)} />;
  const formats = ['csv', 'xlsx'].map((key) => ({ key, label: `${t.export} ${key.toUpperCase()}` }));
  return (
    <Dropdown trigger={['click']} menu={{ items: formats, onClick: ({ key }) => ask.mutate(key) }}>
      <Button icon={<DownloadOutlined />} loading={ask.isPending}>
        {t.export}
      </Button>
    </Dropdown>
  );
}

function Running({ id, onEnd }: { id: number; onEnd: () => void }) {
  const may = useMay();
  const { notification } = App.useApp();
  const { data } = useQuery({
    queryKey: ['exports', 'one', String(id)],
    queryFn: ({ signal }) => call('GET /api/admin/exports/{id}', { path: { id }, signal }),
    refetchInterval: ({ state }) => (state.data && state.data.status !== 0 ? false : pollMs),
    enabled: may('GET /api/admin/exports/{id}'),
  });
  useEffect(() => {
    if (!data || data.status === 0) return;
    const isDone = data.status === 1;
    notification[isDone ? 'success' : 'error']({
      title: isDone ? t.done : t.failed,
      description: isDone ? data.filename : data.error_msg,
      duration: isDone ? 0 : 6,
      actions: isDone && may('GET /api/admin/exports/{id}/download') ? <SaveButton id={id} /> : undefined,
    });
    onEnd();
  }, [data, id, may, notification, onEnd]);
  return (
    <Button icon={<DownloadOutlined />} disabled>
      {t.exporting}
      <progress aria-label={t.exporting} max={100} value={data?.progress ?? 0} />
    </Button>
  );
}

export function SaveButton({ id }: { id: number }) {
  const { modal } = App.useApp();
  const save = useMutation({
    mutationFn: () => download('GET /api/admin/exports/{id}/download', { path: { id } }),
    onSuccess: saveFile,
    onError: (error) => void modal.error({ title: failureOf(error).message }),
  });
  return (
    <Button
      type="primary"
      size="small"
      icon={<DownloadOutlined />}
      loading={save.isPending}
      onClick={() => save.mutate()}
    >
      {t.save}
    </Button>
  );
}
