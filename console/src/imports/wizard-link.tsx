// Begins an import.
import { UploadOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { Link } from 'react-router';
import { texts } from '../contract/texts.ts';
import { useMay } from '../parts/profile.ts';

const t = texts({ 'zh-CN': { begin: '导入订单' }, 'en-US': { begin: 'Import orders' } });

export function WizardLink() {
  const may = useMay();
  if (!may('POST /api/admin/orders/import')) return null;
  return (
    <Link to="/imports/imports/new">
      <Button type="primary" icon={<UploadOutlined />} tabIndex={-1}>
        {t.begin}
      </Button>
    </Link>
  );
}
