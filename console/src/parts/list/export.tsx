// Exports exactly what a list shows; the progress continues on the exports page.
import { DownloadOutlined } from '@ant-design/icons';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { App, Button } from 'antd';
import { useEffect, useState } from 'react';
import { call, type Route } from '../../contract/api.ts';
import { texts } from '../../contract/texts.ts';
import { useShowFailure } from '../show/dialogs.tsx';
import { DownloadButton } from '../show/download-button.tsx';
import { keepFocus } from '../show/focus.ts';
import { MenuButton } from '../show/menu-button.tsx';
import { failureOf } from '../show/problem.tsx';
import type { AnyRow, ExportRoute } from '../resource.ts';
import { followMs } from './recovery.ts';

const t = texts({
  export: ['导出', 'Export'],
  exporting: ['正在导出', 'Exporting'],
  done: ['导出完成', 'Export is ready'],
  failed: ['导出失败', 'The export failed'],
  save: ['下载文件', 'Download'],
});

export function ExportButton({ route, filters }: { route: ExportRoute; filters: AnyRow }) {
  const [id, setId] = useState<number>();
  const showFailure = useShowFailure();
  const client = useQueryClient();
  const ask = useMutation({
    mutationFn: (format: string) => call(route, { body: { ...filters, format } as never, zoned: true }),
    onSuccess: ({ export_id }) => {
      setId(export_id);
      keepFocus();
      void client.invalidateQueries({ queryKey: ['exports'] });
    },
    onError: showFailure,
  });
  if (id !== undefined) return <Running route={route} id={id} onEnd={() => setId(undefined)} />;
  const formats = ['csv', 'xlsx'].map((key) => ({ key, label: `${t.export} ${key.toUpperCase()}` }));
  return (
    <MenuButton items={formats} onChoose={ask.mutate} icon={<DownloadOutlined />} loading={ask.isPending}>
      {t.export}
    </MenuButton>
  );
}

type StatusRoute = Extract<Route, `GET ${string}/export/status/{id}`>;

/** Opened by the right to export: the page of exports needs one of its own. */
const statusOf = (route: ExportRoute) => `${route.replace('POST', 'GET')}/status/{id}` as StatusRoute;

function Running({ route, id, onEnd }: { route: ExportRoute; id: number; onEnd: () => void }) {
  const { notification } = App.useApp();
  const { data, error } = useQuery({
    queryKey: ['exports', 'one', String(id)],
    queryFn: ({ signal }) => call(statusOf(route), { path: { id }, signal }),
    refetchInterval: (query) => followMs(query, query.state.data?.status === 0),
  });
  const refusal = error && !failureOf(error).isPassing ? failureOf(error).message : undefined;
  useEffect(() => {
    if (refusal === undefined && (!data || data.status === 0)) return;
    if (refusal !== undefined || data?.status !== 1) {
      notification.error({ title: t.failed, description: refusal ?? data?.error_msg, duration: 6 });
    } else {
      notification.success({
        title: t.done,
        description: data.filename,
        duration: 0,
        actions: <SaveButton id={id} />,
      });
    }
    onEnd();
  }, [data, refusal, id, notification, onEnd]);
  return (
    <Button icon={<DownloadOutlined />} disabled>
      {t.exporting}
      <progress aria-label={t.exporting} max={100} value={data?.progress ?? 0} />
    </Button>
  );
}

export function SaveButton({ id }: { id: number }) {
  return (
    <DownloadButton route="GET /api/admin/exports/{id}/download" id={id} type="primary" size="small">
      {t.save}
    </DownloadButton>
  );
}
