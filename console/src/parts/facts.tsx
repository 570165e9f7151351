// The fields of a row.
import { read } from '../contract/texts.ts';
import { Label, type Cell } from './cells.tsx';
import { labelOf, type AnyRow, type Resource } from './resource.ts';

/** Names and values, in declared order. */
export function Facts({
  resource,
  row,
  only,
}: {
  resource: Resource;
  row: AnyRow;
  only?: readonly string[];
}) {
  const cells: Readonly<Record<string, Cell>> = { ...resource.spec.columns, ...resource.spec.more };
  const names = only ?? Object.keys(cells);
  return (
    <dl className="facts">
      {names.map((name) => (
        <div key={name}>
          <dt>
            <Label text={read(labelOf(resource, name))} cell={cells[name]} />
          </dt>
          <dd>{cells[name]?.render(row[name] as never, row)}</dd>
        </div>
      ))}
    </dl>
  );
}
