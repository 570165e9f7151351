// Blocked addresses.
import type { Data } from '../contract/api.ts';
import { texts } from '../contract/texts.ts';
import { code, status, text, time } from '../parts/show/cells.tsx';
import { note, onOff, status as statusFilter, words } from '../parts/form/fields.tsx';
import { resource } from '../parts/resource.ts';

const t = texts({
  own: ['您的地址', 'Your address'],
});

/** The administrator's own address, so that nobody blocks it by mistake. */
function OwnAddress({ data }: { data: Data<'GET /api/admin/blacklists'> | undefined }) {
  return (
    <span className="soft">
      {t.own}: <span className="cell-code">{data?.client_ip ?? '…'}</span>
    </span>
  );
}

const fields = { ip: words(), remark: note(2), status: onOff() };

export default resource('GET /api/admin/blacklists', {
  name: 'blacklists',
  title: ['IP 黑名单', 'IP blacklist'],
  one: ['黑名单地址', 'blacklist entry'],
  empty: [
    '没有被封禁的地址。新增后，来自该地址的请求会被拒绝',
    'No addresses are blocked. Add one to refuse its requests',
  ],
  label: 'ip',
  labels: {},
  stale: ['blacklist'],
  above: OwnAddress,
  filters: { ip: words(), status: statusFilter() },
  sortable: ['ip', 'created_at'],
  columns: { ip: code(240), remark: text(280), status: status(), created_at: time() },
  more: { updated_at: time() },
  show: 'GET /api/admin/blacklists/{id}',
  create: { route: 'POST /api/admin/blacklists', fields },
  update: { route: 'PUT /api/admin/blacklists/{id}', fields },
  remove: 'DELETE /api/admin/blacklists/{id}',
});
