// Progress and result of an import: counts, rejected rows, and their file.
import { useQuery } from '@tanstack/react-query';
import { Alert, Flex, Pagination, Table } from 'antd';
import { useState, type ReactNode } from 'react';
import { call, type Data } from '../contract/api.ts';
import { plural, texts } from '../contract/texts.ts';
import { named } from '../parts/list/list.tsx';
import { followMs } from '../parts/list/recovery.ts';
import { DownloadButton } from '../parts/show/download-button.tsx';
import { LinkButton } from '../parts/show/link-button.tsx';
import { showCount } from '../parts/show/money.ts';
import { Problem } from '../parts/show/problem.tsx';
import { useMay } from '../parts/show/profile.ts';
import { Running } from '../parts/show/progress.tsx';

const t = texts({
  good: ['成功行', 'Valid rows'],
  bad: ['错误行', 'Invalid rows'],
  orders: ['订单', 'Orders'],
  row: ['行号', 'Row'],
  column: ['列', 'Column'],
  value: ['值', 'Value'],
  reason: ['原因', 'Reason'],
  file: ['下载错误文件', 'Download the invalid rows'],
  rows: ['错误行', 'Invalid rows'],
  allGood: ['所有行都没有问题', 'All rows are valid'],
  checked: [
    (count: number) => `检查完成，尚未创建任何订单。可导入 ${showCount(count)} 个订单`,
    (count) =>
      `Checked. Nothing has been created yet: ${showCount(count)} ${plural(count, 'order', 'orders')} can be imported`,
  ],
  imported: [
    (count: number) => `已创建 ${showCount(count)} 个订单`,
    (count) => `${showCount(count)} ${plural(count, 'order was', 'orders were')} created`,
  ],
  show: ['查看该时段的订单', 'Show the orders of that time'],
});

type Import = Data<'GET /api/admin/imports/{id}'>;

export const useImport = (id: number | undefined) =>
  useQuery({
    queryKey: ['imports', 'one', String(id)],
    queryFn: ({ signal }) => call('GET /api/admin/imports/{id}', { path: { id: id ?? 0 }, signal }),
    enabled: id !== undefined,
    refetchInterval: (query) => followMs(query, query.state.data?.status === 0),
  });

/** @param children what to do about it, above the rejected rows */
export function Outcome({ of: data, children }: { of: Import; children?: ReactNode }) {
  const hasPart = data.status === 2 && !data.dry_run && data.order_count > 0;
  return (
    <div className="stack">
      <section className="panel" aria-live="polite">
        {/* The reason has a place of its own. */}
        <Running of="rows" row={{ ...data, error_msg: null }} />
        <div className="cards">
          <Count label={t.good} value={data.success_count} />
          <Count label={t.bad} value={data.failed_count} />
          <Count label={t.orders} value={data.order_count} />
        </div>
        {data.error_msg && <Alert type="error" showIcon title={data.error_msg} />}
        {(data.status === 1 || hasPart) && <Result of={data} />}
        {children}
      </section>
      {data.status !== 0 && data.failed_count > 0 && <BadRows of={data} />}
    </div>
  );
}

/** The result: only counts after a check, otherwise orders, also of an import that was stopped or has failed. */
function Result({ of: data }: { of: Import }) {
  const { dry_run, order_count, created_at, finished_at } = data;
  const may = useMay();
  const allGood = data.status === 1 && data.failed_count === 0 ? t.allGood : undefined;
  if (dry_run) return <Alert type="info" showIcon title={t.checked(order_count)} description={allGood} />;
  const isShown = order_count > 0 && may('GET /api/admin/orders');
  const span = new URLSearchParams({ start_time: created_at, end_time: finished_at ?? created_at });
  return (
    <Alert
      type={order_count > 0 ? 'success' : 'warning'}
      showIcon
      title={t.imported(order_count)}
      description={
        // Not beside the title, which a phone has no room for.
        <Flex vertical gap={8} align="start">
          {allGood}
          {isShown && <LinkButton to={`/trade/orders?${span.toString()}`}>{t.show}</LinkButton>}
        </Flex>
      }
    />
  );
}

function Count({ label, value }: { label: string; value: number }) {
  return (
    <div>
      <div className="card-label">{label}</div>
      <div className="figure">{showCount(value)}</div>
    </div>
  );
}

const pageSize = 20;

function BadRows({ of: { id, error_file_url } }: { of: Import }) {
  const [page, setPage] = useState(1);
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['imports', 'errors', id, page],
    queryFn: ({ signal }) =>
      call('GET /api/admin/imports/{id}/errors', {
        path: { id },
        query: { page, page_size: pageSize },
        signal,
      }),
    placeholderData: (before) => before,
  });
  return (
    <section className="panel">
      <Flex justify="space-between" align="center" wrap gap={8}>
        <h2>{t.rows}</h2>
        {error_file_url && (
          <DownloadButton route="GET /api/admin/imports/{id}/error-file" id={id}>
            {t.file}
          </DownloadButton>
        )}
      </Flex>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      <Table
        size="small"
        rowKey={({ row, column }) => `${row} ${column}`}
        loading={isFetching && !data}
        dataSource={data?.list ?? []}
        pagination={false}
        scroll={{ x: 560 }}
        columns={[
          { title: t.row, dataIndex: 'row', width: 80 },
          { title: t.column, dataIndex: 'column', width: 130 },
          { title: t.value, dataIndex: 'value', width: 160, className: 'any-text' },
          { title: t.reason, dataIndex: 'reason' },
        ]}
      />
      {(data?.total ?? 0) > pageSize && (
        <Pagination
          align="end"
          current={page}
          pageSize={pageSize}
          total={data?.total}
          showSizeChanger={false}
          itemRender={named}
          onChange={setPage}
        />
      )}
    </section>
  );
}
