// Exports: progress, reason of a failure, and the file until it expires.
import type { Body } from '../contract/api.ts';
import { badge, bytes, custom, named, text, time } from '../parts/show/cells.tsx';
import { SaveButton } from '../parts/list/export.tsx';
import { choice, numberChoice } from '../parts/form/fields.tsx';
import { useMay } from '../parts/show/profile.ts';
import { Running, workStates } from '../parts/show/progress.tsx';
import { commonLabels, resource, type ExportRoute } from '../parts/resource.ts';
import { enabled, nameOf, states, yesNo, type States } from '../parts/show/states.tsx';
import { isInstant, showTime } from '../parts/show/time.ts';
import {
  balanceTypes,
  destinations,
  orderStates,
  orderTimeFields,
  paymentStates,
  refundStates,
  refundTimeFields,
  paymentTimeFields,
} from '../parts/show/trade-states.ts';
import { labelled, read, type Both } from '../contract/texts.ts';

const kinds = states({
  orders: ['订单', 'Orders', 'blue'],
  payments: ['支付记录', 'Payments', 'green'],
  refunds: ['退款', 'Refunds', 'blue'],
  users: ['用户', 'Users', 'gold'],
  admins: ['管理员', 'Administrators', 'grey'],
  user_balance_logs: ['余额记录', 'Balance changes', 'grey'],
});
const formats = states({ csv: ['CSV', 'CSV', 'grey'], xlsx: ['XLSX', 'XLSX', 'grey'] });

interface Filter {
  name: string;
  value: string;
}

function Save({ id }: { id: number }) {
  const may = useMay();
  return may('GET /api/admin/exports/{id}/download') ? <SaveButton id={id} /> : null;
}

const listStates: Readonly<Record<string, States<string>>> = {
  orders: orderStates,
  payments: paymentStates,
  refunds: refundStates,
  users: enabled,
  admins: enabled,
};

/** Of filters with few values, but for the status, which every list has of its own. */
const valueStates: Readonly<Record<string, States<string>>> = {
  needs_attention: yesNo,
  destination: destinations,
  type: balanceTypes,
  time_field: { ...orderTimeFields, ...paymentTimeFields, ...refundTimeFields },
};

/** A filter of any export. */
type FilterName = { [R in ExportRoute]: Exclude<keyof Body<R> & string, 'format'> }[ExportRoute];

const labels: Readonly<Record<FilterName, Both> & Record<string, Both>> = {
  ...commonLabels,
  start_time: ['开始', 'From'],
  end_time: ['结束', 'To'],
  start_date: ['开始', 'From'],
  end_date: ['结束', 'To'],
};

/** As `Status: Paid · User: 17`; a dash for the whole list. */
function showFilters(filters: Filter[], { type }: Record<string, unknown>): string {
  const parts = filters.map(({ name, value }) =>
    labelled(read(labels[name] ?? [name, name]), showValue(String(type), name, value)),
  );
  return parts.join(' · ') || '–';
}

function showValue(type: string, name: string, value: string): string {
  if (isInstant(value)) return showTime(value);
  return nameOf((name === 'status' ? listStates[type] : valueStates[name]) ?? {}, value);
}

export default resource('GET /api/admin/exports', {
  name: 'exports',
  title: ['导出', 'Exports'],
  empty: [
    '导出的文件会保存在这里直到过期。在任一列表上点“导出”即可',
    'Files you export appear here until they expire. Choose Export on any list to make one',
  ],
  label: 'filename',
  labels: {
    format: ['格式', 'Format'],
    expires_at: ['过期时间', 'Expires'],
    file_url: ['下载', 'Download'],
    filters: ['筛选条件', 'Filters'],
  },
  isMoving: (row) => row.status === 0,
  filters: { type: choice(kinds), format: choice(formats), status: numberChoice(workStates) },
  sortable: ['created_at', 'finished_at'],
  columns: {
    filename: text(230),
    type: badge(kinds, 132),
    progress: custom<number>((_, row) => <Running of="entries" row={row as never} />, 150),
    size: bytes(84),
    file_url: custom<string | null>((url, row) => url && <Save id={Number(row.id)} />, 116),
    filters: custom<Filter[]>(showFilters, 158),
    error_msg: text(200),
    admin: named('username'),
    created_at: time(),
    expires_at: time(),
  },
  folded: ['type', 'error_msg', 'admin', 'expires_at'],
  more: { finished_at: time() },
  show: 'GET /api/admin/exports/{id}',
  remove: 'DELETE /api/admin/exports/{id}',
  removeMany: 'POST /api/admin/exports/batch-delete',
});
