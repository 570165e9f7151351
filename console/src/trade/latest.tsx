// A short table of orders, payments or refunds on the page of something else: number, time, amount and state.
import { Fragment, type ReactNode } from 'react';
import { Time } from '../parts/show/cells.tsx';
import { showAmount } from '../parts/show/money.ts';
import { PageLink } from '../parts/show/page-link.tsx';

interface Row {
  number: string;
  to: string;
  amount: string;
  at: string;
  state: ReactNode;
  /** On a line of its own below. */
  note?: string;
}

export function Latest({ rows }: { rows: readonly Row[] }) {
  return (
    <table className="latest">
      <tbody>
        {rows.map(({ number, to, amount, at, state, note }) => (
          <Fragment key={number}>
            <tr>
              <td>
                <PageLink to={to} className="cell-code cell-end" title={number}>
                  {number}
                </PageLink>
              </td>
              <td>
                <Time at={at} />
              </td>
              <td className="cell-figure">{showAmount(amount)}</td>
              <td>{state}</td>
            </tr>
            {note && (
              <tr className="latest-note">
                <td colSpan={4}>{note}</td>
              </tr>
            )}
          </Fragment>
        ))}
      </tbody>
    </table>
  );
}
