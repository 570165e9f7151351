// The lines of an order as a form field; its controls are loaded with the form.
import { lazy, Suspense } from 'react';
import { texts } from '../../contract/texts.ts';
import type { Control, Field } from './fields.tsx';
import { emptyLine, hasWrongPrice, isWhole, type Line } from './line.ts';

const t = texts({
  incomplete: ['请填写每一行的商品、单价和数量', 'Every line needs a product, a price and a quantity'],
  decimals: ['最多两位小数', 'At most two decimals'],
});

const LineTable = lazy(() => import('./line-table.tsx'));

export const lines = (): Field<Line[]> => ({
  initial: [emptyLine],
  problem: (value) => (value.some(hasWrongPrice) ? t.decimals : undefined),
  missing: (value) => (value.every((one) => isWhole(one) || hasWrongPrice(one)) ? undefined : t.incomplete),
  control: (props) => <Lines {...props} />,
});

function Lines(props: Control<Line[]>) {
  return (
    <Suspense fallback={null}>
      <LineTable {...props} />
    </Suspense>
  );
}
