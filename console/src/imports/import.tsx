// One import: outcome and actions.
import { texts } from '../contract/texts.ts';
import { RecordPage } from '../parts/list/record-page.tsx';
import { Facts } from '../parts/show/facts.tsx';
import { LinkButton } from '../parts/show/link-button.tsx';
import { useMay } from '../parts/show/profile.ts';
import type { Resource } from '../parts/resource.ts';
import { Outcome, useImport } from './outcome.tsx';

const t = texts({
  another: ['导入其他文件', 'Import another file'],
});

/** Said by the outcome. */
const elsewhere = ['filename', 'progress', 'success_count', 'failed_count', 'order_count', 'error_msg'];

export default function ImportPage({ id, resource }: { id: string; resource: Resource }) {
  const may = useMay();
  return (
    <RecordPage
      resource={resource}
      id={id}
      what={['导入', 'Import']}
      query={useImport(Number(id))}
      buttons={() =>
        may('POST /api/admin/orders/import') && <LinkButton to="/imports/imports/new">{t.another}</LinkButton>
      }
    >
      {(data) => (
        <>
          <Outcome of={data} />
          <section className="panel">
            <Facts resource={resource} row={data} without={elsewhere} />
          </section>
        </>
      )}
    </RecordPage>
  );
}
