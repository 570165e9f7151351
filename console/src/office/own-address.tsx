// The administrator's own address, so that nobody blocks it by mistake.
import type { Data } from '../contract/api.ts';
import { texts } from '../contract/texts.ts';

const t = texts({ 'zh-CN': { own: '您的地址' }, 'en-US': { own: 'Your address' } });

export function OwnAddress({ data }: { data: Data<'GET /api/admin/blacklists'> | undefined }) {
  return (
    <span className="soft">
      {t.own}: <span className="cell-code">{data?.client_ip ?? '…'}</span>
    </span>
  );
}
