// third_party_numbers: which payment a channel's number belongs to, over all months. A number pays one payment.
import { payments, type Statement } from '../../lib/database/db.js';
import { insertStatement } from '../tables/rows.js';
import { over } from '../tables/sql.js';
import type { Row } from '../tables/table.js';
import { ThirdPartyNumber } from './tables.js';

export type NumberClaim = Row<ThirdPartyNumber>;

const sql = over({ third_party_numbers: ThirdPartyNumber });

/** Claims the numbers for their payments unless other payments have them; in a fixed order, against deadlocks. */
export function claimStatement(claims: readonly NumberClaim[]): Statement {
  const sorted = [...claims].sort((one, other) => (one.third_party_no < other.third_party_no ? -1 : 1));
  const rows = sorted.map(({ type, third_party_no, payment_no }) => ({ type, third_party_no, payment_no }));
  const taken = insertStatement(ThirdPartyNumber, rows);
  const kept = sql('ON DUPLICATE KEY UPDATE type = VALUES(type)', {});
  return { sql: `${taken.sql} ${kept.sql}`, values: taken.values };
}

/** The payment that the number belongs to. */
export const ownerStatement = ({ type, third_party_no }: NumberClaim): Statement =>
  sql('SELECT payment_no FROM third_party_numbers WHERE type = :type AND third_party_no = :third_party_no', {
    type,
    third_party_no,
  });

/** Claims the number if it is free. @returns the payment it belongs to now */
export async function claimNumber(claim: NumberClaim): Promise<string> {
  const [, rows] = await payments.packet([claimStatement([claim]), ownerStatement(claim)]);
  return (rows?.[0] as NumberClaim).payment_no;
}
