// Drop zone and progress of uploads.
import { CloseOutlined, PauseOutlined, CaretRightOutlined } from '@ant-design/icons';
import { useQueryClient } from '@tanstack/react-query';
import { Alert, Button, Flex, Progress } from 'antd';
import { useEffect, type ReactNode } from 'react';
import { read, texts, type Both } from '../contract/texts.ts';
import { DropZone } from '../parts/form/drop-zone.tsx';
import { useMay, useProfile } from '../parts/show/profile.ts';
import { showBytes, showDuration } from '../parts/show/time.ts';
import {
  addFiles,
  begun,
  forget,
  onUploaded,
  pause,
  resume,
  sendFor,
  useUploads,
  type Upload,
} from './upload-queue.ts';

const t = texts({
  drop: ['把文件拖到这里，或', 'Drop files here, or'],
  limits: [
    (types: string, size: string) => `${types}；每个文件不超过 ${size}`,
    (types, size) => `${types}; up to ${size} each`,
  ],
  pick: ['选择文件', 'choose files'],
  pause: ['暂停', 'Pause'],
  resume: ['继续', 'Resume'],
  remove: ['移除', 'Remove'],
  progress: ['进度', 'Progress'],
  choose: ['选择要上传的文件', 'Files to upload'],
  empty: ['文件是空的', 'The file is empty'],
  again: [
    (name: string) => `请重新选择 ${name}，将从中断处继续上传`,
    (name) => `Choose ${name} again: its upload continues where it stopped`,
  ],
});

const states: Record<Upload['state'], Both> = {
  waiting: ['等待上传', 'Waiting'],
  hashing: ['正在校验', 'Checking'],
  uploading: ['正在上传', 'Uploading'],
  paused: ['已暂停', 'Paused'],
  offline: ['网络中断，恢复后自动继续', 'No network; continues by itself'],
  merging: ['正在合并', 'Merging'],
  done: ['完成', 'Done'],
  failed: ['失败', 'Failed'],
};

export function Uploads() {
  const may = useMay();
  const { id, config } = useProfile();
  const { upload_extensions, upload_max_bytes } = config;
  const uploads = useUploads().filter(({ ownerId }) => ownerId === id);
  const client = useQueryClient();
  useEffect(() => sendFor(id), [id]);
  useEffect(() => onUploaded(() => void client.invalidateQueries({ queryKey: ['attachments'] })), [client]);
  if (!may('POST /api/admin/attachments/chunk')) return null;
  return (
    <div className="stack">
      <DropZone
        text={t.drop}
        button={t.pick}
        label={t.choose}
        accept={upload_extensions.map((one) => `.${one}`).join(',')}
        multiple
        onFiles={(files) => addFiles(id, files)}
      >
        <span className="soft">{t.limits(upload_extensions.join(', '), showBytes(upload_max_bytes))}</span>
      </DropZone>
      {begun(id).map(({ key, name }) => (
        <Alert
          key={key}
          type="warning"
          title={t.again(name)}
          action={<Tool name={`${t.remove} ${name}`} icon={<CloseOutlined />} onPress={() => forget(key)} />}
        />
      ))}
      {uploads.length > 0 && (
        <ul className="uploads panel">
          {uploads.map((one) => (
            <Line key={one.key} upload={one} />
          ))}
        </ul>
      )}
    </div>
  );
}

const Tool = ({ name, icon, onPress }: { name: string; icon: ReactNode; onPress: () => void }) => (
  <Button type="text" size="small" icon={icon} aria-label={name} onClick={onPress} />
);

function Line({ upload }: { upload: Upload }) {
  const { key, file, state, sent, rate, failure } = upload;
  const percent = file.size === 0 ? 100 : Math.floor((sent / file.size) * 100);
  // The same file is refused again for what it is.
  const mayHelp = failure === undefined || failure.status < 400 || failure.status >= 500;
  const isMoving = state === 'uploading' || state === 'hashing';
  return (
    <li className="upload" data-state={state}>
      <span className="cell-text">{file.name}</span>
      <Flex gap={4}>
        {isMoving && (
          <Tool name={`${t.pause} ${file.name}`} icon={<PauseOutlined />} onPress={() => pause(key)} />
        )}
        {(state === 'paused' || state === 'offline' || (state === 'failed' && mayHelp)) && (
          <Tool name={`${t.resume} ${file.name}`} icon={<CaretRightOutlined />} onPress={() => resume(key)} />
        )}
        <Tool name={`${t.remove} ${file.name}`} icon={<CloseOutlined />} onPress={() => forget(key)} />
      </Flex>
      <Progress
        percent={state === 'done' ? 100 : percent}
        size="small"
        aria-label={`${t.progress} ${file.name}`}
        status={state === 'failed' ? 'exception' : state === 'done' ? 'success' : 'normal'}
      />
      {failure && (
        <span role="alert" className="broken upload-failure">
          {file.size === 0 ? t.empty : failure.message}
        </span>
      )}
      <span className="soft upload-state">
        {read(states[state])} · {showBytes(sent)} / {showBytes(file.size)}
        {rate > 0 && ` · ${showBytes(rate)}/s · ${showDuration((file.size - sent) / rate)}`}
      </span>
    </li>
  );
}
