// One import: outcome and actions.
import { useNavigate } from 'react-router';
import { ActionButtons } from '../parts/list/actions.tsx';
import { Facts } from '../parts/show/facts.tsx';
import { RowPage } from '../parts/show/page.tsx';
import type { Resource } from '../parts/resource.ts';
import { Outcome, useImport } from './outcome.tsx';

export default function ImportPage({ id, resource }: { id: string; resource: Resource }) {
  const { data } = useImport(Number(id));
  const navigate = useNavigate();
  return (
    <RowPage
      list="/imports/imports"
      title={data?.filename ?? id}
      what={['导入', 'Import']}
      actions={
        data && (
          <ActionButtons
            resource={resource}
            row={data}
            onDone={({ route }) => route.startsWith('DELETE') && void navigate('/imports/imports')}
          />
        )
      }
    >
      <Outcome id={Number(id)} list={resource.spec.title} />
      {data && (
        <section className="panel">
          <Facts
            resource={resource}
            row={data}
            only={['dry_run', 'size', 'admin', 'created_at', 'finished_at']}
          />
        </section>
      )}
    </RowPage>
  );
}
