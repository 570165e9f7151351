// Links from the orders to their import.
import { UploadOutlined } from '@ant-design/icons';
import { texts } from '../contract/texts.ts';
import { LinkButton } from '../parts/show/link-button.tsx';
import { useMay } from '../parts/show/profile.ts';

const t = texts({ 'zh-CN': { import: '导入' }, 'en-US': { import: 'Import' } });

export function ImportLink() {
  const may = useMay();
  if (!may('POST /api/admin/orders/import')) return null;
  return (
    <LinkButton to="/imports/imports/new" icon={<UploadOutlined />}>
      {t.import}
    </LinkButton>
  );
}
