// Imports orders in three steps: choose a file, check its problems, import.
import { InboxOutlined } from '@ant-design/icons';
import { useMutation } from '@tanstack/react-query';
import { Alert, Button, Flex, Skeleton, Steps } from 'antd';
import { useMemo, useState } from 'react';
import { useNavigate } from 'react-router';
import { call, Failure } from '../contract/api.ts';
import { contentOf } from '../contract/file-content.ts';
import { randomKey } from '../contract/plain-http.ts';
import { texts } from '../contract/texts.ts';
import { useDraft, useLeaveGuard } from '../parts/form/draft.ts';
import { DropZone } from '../parts/form/drop-zone.tsx';
import { DownloadButton } from '../parts/show/download-button.tsx';
import { failureOf, Problem } from '../parts/show/problem.tsx';
import { useProfile } from '../parts/show/profile.ts';
import { showBytes } from '../parts/show/time.ts';
import { RowPage } from '../parts/show/page.tsx';
import { Outcome, useImport } from './outcome.tsx';

const t = texts({
  title: ['导入订单', 'Import orders'],
  choose: ['选择文件', 'Choose a file'],
  check: ['检查', 'Check'],
  run: ['导入', 'Import'],
  drop: ['把 CSV 文件拖到这里，或', 'Drop a CSV file here, or'],
  pick: ['选择文件', 'choose a file'],
  template: ['下载模板', 'Download a template'],
  hint: [
    'UTF-8、GBK 或 UTF-16；同一 order_ref 的行属于同一个订单；每行明细都要填写数量；user_id 或 username 填用户列表中的编号或用户名',
    'UTF-8, GBK or UTF-16; rows with the same order_ref are one order; each line needs a quantity; name the user by user_id or username, as in the users list',
  ],
  limit: [(size: string) => `文件不超过 ${size}`, (size) => `A file may have up to ${size}`],
  start: ['开始导入', 'Start the import'],
  startGood: ['只导入没有问题的订单', 'Import the valid orders only'],
  another: ['换一个文件', 'Choose another file'],
  lost: [
    (name: string) => `请重新选择 ${name}：所选文件在离开页面或会话结束后不会保留`,
    (name) => `Choose ${name} again: a chosen file is not kept once its page is left or the session ends`,
  ],
});

interface Sending {
  file: File;
  isCheck: boolean;
  key: string;
}

const copyOf = async (file: File): Promise<File> =>
  new File([await contentOf(file)], file.name, { type: file.type });

const send = async ({ file, isCheck, key }: Sending): Promise<number> => {
  const body = new FormData();
  body.append('dry_run', String(isCheck));
  body.append('file', file);
  const { import_id } = await call('POST /api/admin/orders/import', { body, idempotencyKey: key });
  return import_id;
};

export default function ImportWizard() {
  const [file, setFile] = useState<File>();
  // A file cannot be kept, but its name can.
  const draft = useDraft('import', {});
  useLeaveGuard(file !== undefined);
  const most = useProfile().config.import_max_bytes;
  const check = useMutation({
    mutationFn: async (sending: Sending) => {
      if (sending.file.size > most) throw new Failure(t.limit(showBytes(most)), 413);
      const copy = await copyOf(sending.file);
      // What is imported is what was checked, unless another one is to be chosen by now.
      setFile((latest) => (latest === sending.file ? copy : latest));
      return send({ ...sending, file: copy });
    },
  });
  const navigate = useNavigate();
  // From here on it has a URL of its own, to which a reload or a new sign-in returns.
  const run = useMutation({
    mutationFn: send,
    onSuccess: () => draft.forget(),
  });
  // What was sent before a reload may have arrived.
  const sentKeyOf = ({ name, size }: File): string | undefined =>
    draft.known?.values.name === name && draft.known.values.size === size ? draft.known.key : undefined;
  // A repeated press starts no second import.
  const key = useMemo(() => (file && sentKeyOf(file)) ?? randomKey(), [file]);
  const start = (chosen: File) => {
    draft.keep({ name: chosen.name, size: chosen.size }, {}, key);
    // Not when this page was left meanwhile.
    const onSuccess = (id: number) => void navigate(`/imports/imports/${id}`, { replace: true });
    run.mutate({ file: chosen, isCheck: false, key }, { onSuccess });
  };
  const checked = useImport(check.data);
  const choose = (chosen: File | undefined) => {
    if (!chosen) return;
    setFile(chosen);
    draft.keep({ name: chosen.name, size: chosen.size }, {}, sentKeyOf(chosen));
    run.reset();
    check.mutate({ file: chosen, isCheck: true, key: randomKey() });
  };
  const again = () => {
    setFile(undefined);
    draft.forget();
    check.reset();
    run.reset();
  };
  const step = run.isPending ? 2 : file ? 1 : 0;
  const mayStart = checked.data?.status === 1 && checked.data.order_count > 0;
  const error = run.error ?? check.error;
  // The same file is refused again for what it is.
  const { isPassing, status } = failureOf(error);
  const mayHelp = isPassing || status < 400 || status >= 500;
  return (
    <RowPage list="/imports/imports" title={t.title} what={['导入', 'Import']}>
      <Steps
        size="small"
        current={step}
        items={[{ title: t.choose }, { title: t.check }, { title: t.run }]}
      />
      {!file && draft.known && <Alert type="warning" title={t.lost(String(draft.known.values.name))} />}
      {!file && (
        <DropZone
          text={t.drop}
          button={t.pick}
          label={t.choose}
          accept=".csv,text/csv"
          icon={<InboxOutlined className="figure" />}
          onFiles={([chosen]) => choose(chosen)}
        >
          <span className="soft">{t.hint}</span>
          <span className="soft">{t.limit(showBytes(most))}</span>
          <DownloadButton route="GET /api/admin/imports/template" type="link">
            {t.template}
          </DownloadButton>
        </DropZone>
      )}
      {file && (
        <Flex gap={12} align="center" wrap>
          <strong>{file.name}</strong>
          <span className="soft">{showBytes(file.size)}</span>
          <Button disabled={run.isPending} onClick={again}>
            {t.another}
          </Button>
        </Flex>
      )}
      {error && (
        <Problem
          error={error}
          onRetry={mayHelp ? () => file && (run.error ? start(file) : choose(file)) : undefined}
        />
      )}
      {checked.error && <Problem error={checked.error} onRetry={() => void checked.refetch()} />}
      {checked.isLoading && <Skeleton active />}
      {checked.data && (
        <Outcome of={checked.data}>
          {file && mayStart && (
            <div>
              <Button type="primary" size="large" loading={run.isPending} onClick={() => start(file)}>
                {checked.data.failed_count > 0 ? t.startGood : t.start}
              </Button>
            </div>
          )}
        </Outcome>
      )}
    </RowPage>
  );
}
