// Old and new values side by side, under the names and in the form in which the screens show them.
import type { ReactNode } from 'react';
import { read, texts } from '../../contract/texts.ts';
import { commonLabels, labelOf, type Resource } from '../resource.ts';
import { Value, type Cell } from './cells.tsx';
import { enabled, nameOf, yesNo } from './states.tsx';

const t = texts({
  field: ['字段', 'Field'],
  old: ['原值', 'Before'],
  fresh: ['新值', 'After'],
});

interface Change {
  field: string;
  old?: unknown;
  new?: unknown;
}

const plain = (value: unknown): string =>
  value === null || value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value);

/** Of any resource: a number there says whether it is enabled, and truth is yes or no. */
function show(field: string, value: unknown, cell: Cell | undefined): ReactNode {
  if (value === null || value === undefined) return plain(value);
  if (cell) return <Value cell={cell} value={value} row={{}} />;
  if (typeof value === 'boolean') return nameOf(yesNo, value);
  return field === 'status' && typeof value === 'number' ? nameOf(enabled, value) : plain(value);
}

/** @param resource whose labels and cells apply */
export function Changes({ changes, resource }: { changes: readonly Change[]; resource?: Resource }) {
  if (changes.length === 0) return null;
  const cells: Readonly<Record<string, Cell>> = { ...resource?.spec.columns, ...resource?.spec.more };
  const common: Readonly<Record<string, readonly [string, string]>> = commonLabels;
  const nameOf = (field: string) =>
    read(resource ? labelOf(resource, field) : (common[field] ?? [field, field]));
  return (
    <table className="changes">
      <thead>
        <tr>
          <th scope="col">{t.field}</th>
          <th scope="col">{t.old}</th>
          <th scope="col">{t.fresh}</th>
        </tr>
      </thead>
      <tbody>
        {changes.map((change) => (
          <tr key={change.field}>
            <th scope="row">{nameOf(change.field)}</th>
            <td className="was">{show(change.field, change.old, cells[change.field])}</td>
            <td>{show(change.field, change.new, cells[change.field])}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
