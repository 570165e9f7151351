// The fields of a row.
import { read } from '../../contract/texts.ts';
import { labelOf, type AnyRow, type Resource } from '../resource.ts';
import { Label, Value, type Cell } from './cells.tsx';

/** Names and values in declared order. @param without what stands elsewhere on the page */
export function Facts({
  resource,
  row,
  without = [],
}: {
  resource: Resource;
  row: AnyRow;
  without?: readonly string[];
}) {
  const cells: Readonly<Record<string, Cell>> = { ...resource.spec.columns, ...resource.spec.more };
  const names = Object.keys(cells).filter((name) => !without.includes(name));
  return (
    <dl className="facts">
      {names.map((name) => (
        <Fact key={name} label={read(labelOf(resource, name))} cell={cells[name]} row={row} name={name} />
      ))}
    </dl>
  );
}

/** One field; a long text has the width of all columns. */
export function Fact({
  label,
  cell,
  row,
  name,
}: {
  label: string;
  cell: Cell | undefined;
  row: AnyRow;
  name: string;
}) {
  const value = row[name];
  return (
    <div className={typeof value === 'string' && value.length > 100 ? 'long' : undefined}>
      <dt>
        <Label text={label} cell={cell} />
      </dt>
      <dd>{cell && <Value cell={cell} value={value} row={row} />}</dd>
    </div>
  );
}
