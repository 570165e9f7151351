// A button that fetches a file and saves it by the browser's download.
import { DownloadOutlined } from '@ant-design/icons';
import { useMutation } from '@tanstack/react-query';
import { Button, type ButtonProps } from 'antd';
import { download, type Route } from '../../contract/api.ts';
import { useShowFailure } from './dialogs.tsx';

interface Props extends Omit<ButtonProps, 'icon' | 'id' | 'loading' | 'onClick'> {
  route: Route;
  id?: number;
}

export function DownloadButton({ route, id, ...button }: Props) {
  const showFailure = useShowFailure();
  const save = useMutation({
    mutationFn: () => download(route, { path: id === undefined ? {} : { id } }),
    onSuccess: saveFile,
    onError: showFailure,
  });
  return (
    <Button {...button} icon={<DownloadOutlined />} loading={save.isPending} onClick={() => save.mutate()} />
  );
}

function saveFile({ blob, filename }: { blob: Blob; filename: string }): void {
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = filename;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
