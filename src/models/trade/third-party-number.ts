// third_party_numbers: which payment a channel's number belongs to, over all months. A number pays one payment.
import { payments, type Statement } from '../../lib/db.js';

export interface NumberClaim {
  type: string;
  third_party_no: string;
  payment_no: string;
}

/** Takes the numbers for their payments unless other payments have them; in one order, so that nobody meets somebody half way. */
export function claimStatement(claims: readonly NumberClaim[]): Statement {
  const sorted = [...claims].sort((one, other) => (one.third_party_no < other.third_party_no ? -1 : 1));
  return {
    sql: `INSERT INTO third_party_numbers (type, third_party_no, payment_no) VALUES ${claims.map(() => '(?, ?, ?)').join(', ')}
      ON DUPLICATE KEY UPDATE type = VALUES(type)`,
    values: sorted.flatMap(({ type, third_party_no, payment_no }) => [type, third_party_no, payment_no]),
  };
}

/** Whom the number belongs to. */
export const ownerStatement = ({ type, third_party_no }: NumberClaim): Statement => ({
  sql: 'SELECT payment_no AS owner FROM third_party_numbers WHERE type = ? AND third_party_no = ?',
  values: [type, third_party_no],
});

/** Takes the number if it is free. @returns the payment it belongs to now */
export async function claimNumber(claim: NumberClaim): Promise<string> {
  const [, rows] = await payments.packet([claimStatement([claim]), ownerStatement(claim)]);
  return (rows?.[0] as { owner: string }).owner;
}
