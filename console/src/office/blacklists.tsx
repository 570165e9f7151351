// Blocked addresses.
import { code, status, text, time } from '../parts/cells.tsx';
import { note, onOff, status as statusFilter, words } from '../parts/fields.tsx';
import { resource } from '../parts/resource.ts';
import { OwnAddress } from './own-address.tsx';

const fields = { ip: words(), remark: note(2), status: onOff() };

export default resource('GET /api/admin/blacklists', {
  name: 'blacklists',
  title: ['IP 黑名单', 'Blocked addresses'],
  empty: ['没有被拒绝的地址', 'No address is turned away'],
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
