// A short table of orders, payments or refunds on the page of something else: number, time, amount and state.
import { Fragment, type ReactNode } from 'react';
import type { Row as ListRow } from '../contract/api.ts';
import { read, type Both } from '../contract/texts.ts';
import { Amount, Time } from '../parts/show/cells.tsx';
import { PageLink } from '../parts/show/page-link.tsx';
import { Badge } from '../parts/show/states.tsx';
import { paymentStates } from '../parts/show/trade-states.ts';
import { meaningOf } from './verdicts.ts';

interface Row {
  number: string;
  to: string;
  amount: string;
  at: string;
  state: ReactNode;
  /** On a line of its own below. */
  note?: string;
}

/** Said to readers of the screen: the values speak for themselves. */
const heads: readonly Both[] = [
  ['单号', 'Number'],
  ['创建时间', 'Created'],
  ['金额', 'Amount'],
  ['状态', 'Status'],
];

export function Latest({ rows }: { rows: readonly Row[] }) {
  return (
    <table className="latest">
      <thead>
        <tr>
          {heads.map((name) => (
            <th key={name[1]} scope="col">
              <span className="unseen">{read(name)}</span>
            </th>
          ))}
        </tr>
      </thead>
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
              <td className="cell-figure">
                <Amount value={amount} />
              </td>
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

/** A payment, with its method and what is the matter with it below. */
export const paymentRow = ({
  payment_no,
  amount,
  created_at,
  status,
  payment_method,
  fail_reason,
}: ListRow<'GET /api/admin/payments'>): Row => ({
  number: payment_no,
  to: `/trade/payments/${payment_no}`,
  amount,
  at: created_at,
  state: <Badge states={paymentStates} value={status} />,
  note: [payment_method?.name, fail_reason && meaningOf(fail_reason)].filter(Boolean).join(' · '),
});
