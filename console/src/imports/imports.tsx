// Order imports.
import { UploadOutlined } from '@ant-design/icons';
import { lazy } from 'react';
import type { Route } from '../contract/api.ts';
import type { Both } from '../contract/texts.ts';
import { bytes, count, custom, flag, named, text, time } from '../parts/show/cells.tsx';
import { numberChoice, yesOrNo } from '../parts/form/fields.tsx';
import { permittedLink, permittedPage } from '../parts/show/permitted.tsx';
import { Running, workStates } from '../parts/show/progress.tsx';
import { resource } from '../parts/resource.ts';
import { states } from '../parts/show/states.tsx';

const modes = states({ true: ['仅检查', 'Check only', 'grey'], false: ['导入', 'Import', 'blue'] });

const importing: Both = ['导入订单', 'Import orders'];
/** What an import needs, and its outcome. */
const needed: readonly Route[] = ['POST /api/admin/orders/import', 'GET /api/admin/imports/{id}'];

export default resource('GET /api/admin/imports', {
  name: 'imports',
  title: ['导入', 'Imports'],
  empty: [
    '从 CSV 文件导入订单：先检查，确认之后才会创建',
    'Import orders from a CSV file: it is checked first, and nothing is created until you confirm',
  ],
  label: 'filename',
  labels: {
    dry_run: ['方式', 'Mode'],
    success_count: ['成功行', 'Valid rows'],
    failed_count: ['错误行', 'Invalid rows'],
    order_count: ['订单数', 'Orders'],
  },
  isMoving: (row) => row.status === 0,
  filters: { status: numberChoice(workStates), dry_run: yesOrNo() },
  dateRange: true,
  sortable: ['created_at', 'finished_at'],
  columns: {
    filename: text(200),
    dry_run: flag(96, modes),
    progress: custom<number>((_, row) => <Running of="rows" row={row as never} />, 180),
    success_count: count(100),
    failed_count: count(114),
    order_count: count(84),
    size: bytes(),
    admin: named('username'),
    created_at: time(),
    finished_at: time(),
  },
  folded: ['size', 'admin', 'finished_at'],
  more: { error_msg: text() },
  show: 'GET /api/admin/imports/{id}',
  actions: [
    {
      route: 'POST /api/admin/imports/{id}/cancel',
      text: ['停止', 'Stop'],
      danger: true,
      when: ({ status }) => status === 0,
      sure: ['已导入的订单会保留，确定停止？', 'Orders already imported are kept. Stop?'],
    },
  ],
  remove: 'DELETE /api/admin/imports/{id}',
  removable: ({ status }) => status !== 0,
  extra: permittedLink(needed, importing, {
    to: '/imports/imports/new',
    type: 'primary',
    icon: <UploadOutlined />,
  }),
  pages: {
    new: permittedPage(
      needed,
      importing,
      lazy(() => import('./wizard.tsx')),
    ),
  },
  detail: lazy(() => import('./import.tsx')),
});
