// Shows a picture, PDF or video; other files are downloaded.
import { DownloadOutlined } from '@ant-design/icons';
import { useMutation, useQuery } from '@tanstack/react-query';
import { App, Button, Skeleton } from 'antd';
import { useEffect, useMemo } from 'react';
import { download, type Row } from '../contract/api.ts';
import { texts } from '../contract/texts.ts';
import { failureOf, Problem } from '../parts/show/problem.tsx';
import { saveFile } from '../parts/show/save-file.ts';

const t = texts({ 'zh-CN': { save: '下载文件' }, 'en-US': { save: 'Download' } });

type Attachment = Row<'GET /api/admin/attachments'>;

/** Previews are fetched whole; larger files are only downloaded. */
const largestShown = 50_000_000;

export function Preview({ row }: { row: Attachment }) {
  const { modal } = App.useApp();
  const save = useMutation({
    mutationFn: () => download('GET /api/admin/attachments/{id}/download', { path: { id: row.id } }),
    onSuccess: saveFile,
    onError: (error) => void modal.error({ title: failureOf(error).message }),
  });
  const isShown = row.size <= largestShown && /^(image|video)\/|^application\/pdf$/.test(row.mime_type);
  return (
    <>
      <Button
        className="drawer-actions"
        icon={<DownloadOutlined />}
        loading={save.isPending}
        onClick={() => save.mutate()}
      >
        {t.save}
      </Button>
      {isShown && <Shown row={row} />}
    </>
  );
}

function Shown({ row }: { row: Attachment }) {
  const { data, error } = useQuery({
    queryKey: ['attachments', 'content', row.id],
    queryFn: ({ signal }) =>
      download('GET /api/admin/attachments/{id}/preview', { path: { id: row.id }, signal }),
    staleTime: Infinity,
    gcTime: 0,
  });
  const address = useMemo(() => data && URL.createObjectURL(data.blob), [data]);
  useEffect(() => () => (address ? URL.revokeObjectURL(address) : undefined), [address]);
  if (error) return <Problem error={error} />;
  if (!address) return <Skeleton.Image active />;
  if (row.mime_type.startsWith('image/'))
    return <img className="preview" src={address} alt={row.display_name} />;
  if (row.mime_type.startsWith('video/')) return <video className="preview" src={address} controls />;
  return <iframe className="preview" src={address} title={row.display_name} />;
}
