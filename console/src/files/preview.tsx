// Shows a picture, PDF or video; other files are downloaded.
import { useQuery } from '@tanstack/react-query';
import { Skeleton } from 'antd';
import { useEffect, useMemo } from 'react';
import { download, type Row } from '../contract/api.ts';
import { texts } from '../contract/texts.ts';
import { DownloadButton } from '../parts/show/download-button.tsx';
import { Problem } from '../parts/show/problem.tsx';

const t = texts({
  save: ['下载文件', 'Download'],
});

export type Attachment = Row<'GET /api/admin/attachments'>;

/** Previews are fetched whole; larger files are only downloaded. */
const largestShown = 50_000_000;

/** The content of a file, under a URL of this page. */
export function useContent({ id }: Attachment, options: { enabled?: boolean; gcTime?: number }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['attachments', 'content', id],
    queryFn: ({ signal }) => download('GET /api/admin/attachments/{id}/preview', { path: { id }, signal }),
    // Never another one: neither a write nor a lost connection fetches it again.
    staleTime: 'static',
    ...options,
  });
  const address = useMemo(() => data && URL.createObjectURL(data.blob), [data]);
  useEffect(() => () => (address ? URL.revokeObjectURL(address) : undefined), [address]);
  return { address, error, refetch };
}

export function Preview({ row }: { row: Attachment }) {
  const isShown = row.size <= largestShown && /^(image|video)\/|^application\/pdf$/.test(row.mime_type);
  return (
    <>
      <DownloadButton route="GET /api/admin/attachments/{id}/download" id={row.id} className="drawer-actions">
        {t.save}
      </DownloadButton>
      {isShown && <Shown row={row} />}
    </>
  );
}

function Shown({ row }: { row: Attachment }) {
  const { address, error, refetch } = useContent(row, { gcTime: 0 });
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!address) return <Skeleton.Image active />;
  if (row.mime_type.startsWith('image/'))
    return <img className="preview" src={address} alt={row.display_name} />;
  if (row.mime_type.startsWith('video/')) return <video className="preview" src={address} controls />;
  return <iframe className="preview" src={address} title={row.display_name} />;
}
