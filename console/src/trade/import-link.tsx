// From the orders to the import of orders.
import { UploadOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { Link } from 'react-router';
import { texts } from '../contract/texts.ts';
import { useMay } from '../parts/profile.ts';

const t = texts({ 'zh-CN': { import: '导入' }, 'en-US': { import: 'Import' } });

export function ImportLink() {
  const may = useMay();
  if (!may('POST /api/admin/orders/import')) return null;
  return (
    <Link to="/imports/imports/new">
      <Button icon={<UploadOutlined />} tabIndex={-1}>
        {t.import}
      </Button>
    </Link>
  );
}
