// One import: outcome and actions.
import { useNavigate } from 'react-router';
import { texts } from '../contract/texts.ts';
import { ActionButtons } from '../parts/list/actions.tsx';
import { Facts } from '../parts/show/facts.tsx';
import { LinkButton } from '../parts/show/link-button.tsx';
import { RowPage } from '../parts/show/page.tsx';
import { useMay } from '../parts/show/profile.ts';
import type { Resource } from '../parts/resource.ts';
import { Outcome, useImport } from './outcome.tsx';

const t = texts({ 'zh-CN': { another: '导入其他文件' }, 'en-US': { another: 'Import another file' } });

export default function ImportPage({ id, resource }: { id: string; resource: Resource }) {
  const { data } = useImport(Number(id));
  const may = useMay();
  const navigate = useNavigate();
  return (
    <RowPage
      list="/imports/imports"
      title={data?.filename ?? id}
      what={['导入', 'Import']}
      actions={
        data && (
          <>
            {may('POST /api/admin/orders/import') && (
              <LinkButton to="/imports/imports/new">{t.another}</LinkButton>
            )}
            <ActionButtons
              resource={resource}
              row={data}
              onDone={({ route }) => route.startsWith('DELETE') && void navigate('/imports/imports')}
            />
          </>
        )
      }
    >
      <Outcome id={Number(id)} list={resource.spec.title} />
      {data && (
        <section className="panel">
          <Facts
            resource={resource}
            row={data}
            without={['filename', 'progress', 'success_count', 'failed_count', 'order_count', 'error_msg']}
          />
        </section>
      )}
    </RowPage>
  );
}
