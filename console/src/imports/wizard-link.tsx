// Starts an import.
import { UploadOutlined } from '@ant-design/icons';
import { texts } from '../contract/texts.ts';
import { LinkButton } from '../parts/show/link-button.tsx';
import { useMay } from '../parts/show/profile.ts';

const t = texts({ 'zh-CN': { begin: '导入订单' }, 'en-US': { begin: 'Import orders' } });

export function WizardLink() {
  const may = useMay();
  if (!may('POST /api/admin/orders/import')) return null;
  return (
    <LinkButton to="/imports/imports/new" type="primary" icon={<UploadOutlined />}>
      {t.begin}
    </LinkButton>
  );
}
