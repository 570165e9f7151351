// The fields of a row.
import { read } from '../../contract/texts.ts';
import { Label, Value, type Cell } from './cells.tsx';
import { labelOf, type AnyRow, type Resource } from '../resource.ts';

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
      {names.map((name) => {
        const cell = cells[name];
        return (
          <div key={name}>
            <dt>
              <Label text={read(labelOf(resource, name))} cell={cell} />
            </dt>
            <dd>{cell && <Value cell={cell} value={row[name]} row={row} />}</dd>
          </div>
        );
      })}
    </dl>
  );
}
