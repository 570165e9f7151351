// Rows as cards, where a table has no room.
import { Checkbox } from 'antd';
import './row-cards.css';
import { read, texts } from '../../contract/texts.ts';
import { Value } from '../show/cells.tsx';
import { Fact } from '../show/facts.tsx';
import { idOf, labelColumn, labelOf, type AnyRow } from '../resource.ts';
import { useHiddenColumns } from './use-list.ts';
import { keyOf, RowLink, RowMenu, tickName, type RowsProps } from './row.tsx';

const t = texts({
  sort: ['排序', 'Sort by'],
});

const isEmpty = (value: unknown): boolean => value === null || value === undefined || value === '';

export default function RowCards({ isPale, state, onSort, ...cards }: RowsProps) {
  const { resource } = cards;
  const { spec } = resource;
  const orders = ((spec.sortable ?? []) as readonly string[]).flatMap((column) => {
    const label = read(labelOf(resource, column));
    return [
      { value: `${column}:desc`, label: `${label} ↓` },
      { value: `${column}:asc`, label: `${label} ↑` },
    ];
  });
  return (
    <div className={isPale ? 'row-cards pale' : 'row-cards'}>
      {orders.length > 0 && (
        <select
          className="row-sort"
          aria-label={t.sort}
          value={state.order}
          onChange={({ target }) => onSort(target.value)}
        >
          <option value="">{t.sort}</option>
          {orders.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      )}
      <Cards {...cards} />
    </div>
  );
}

type CardsProps = Pick<RowsProps, 'resource' | 'rows' | 'ticked' | 'onTick' | 'onAct'>;

function Cards({ rows, ...shared }: CardsProps) {
  const { resource, ticked, onTick, onAct } = shared;
  const { columns } = resource.spec;
  const off = useHiddenColumns(resource);
  const first = labelColumn(resource);
  const others = Object.entries(columns).filter(([column]) => column !== first && !off.includes(column));
  return (
    <ul>
      {rows.map((row) => {
        const key = keyOf(resource, row);
        const children = (row.children ?? []) as AnyRow[];
        return (
          <li key={key} data-row={idOf(resource, row)}>
            <div className="panel">
              <div className="row-card-head">
                {onTick && (
                  <Checkbox
                    aria-label={tickName(resource, row)}
                    checked={ticked.includes(key)}
                    onChange={({ target }) =>
                      onTick(target.checked ? [...ticked, key] : ticked.filter((one) => one !== key))
                    }
                  />
                )}
                <RowLink resource={resource} row={row}>
                  {columns[first] && <Value cell={columns[first]} value={row[first]} row={row} />}
                </RowLink>
                <span className="grow" />
                <RowMenu resource={resource} row={row} onAct={onAct} />
              </div>
              <dl className="facts">
                {others
                  .filter(([column]) => !isEmpty(row[column]))
                  .map(([column, cell]) => (
                    <Fact
                      key={column}
                      label={read(labelOf(resource, column))}
                      cell={cell}
                      row={row}
                      name={column}
                    />
                  ))}
              </dl>
            </div>
            {children.length > 0 && <Cards rows={children} {...shared} />}
          </li>
        );
      })}
    </ul>
  );
}
