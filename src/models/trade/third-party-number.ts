// third_party_numbers: which payment a channel's number belongs to, over all months. A number pays one payment.
import { change } from '../../lib/database/db.js';
import type { Transaction } from 'sequelize';
import { columnsOf, selection } from '../tables/selection.js';
import type { Row } from '../tables/table.js';
import { ThirdPartyNumber } from './tables.js';

export type NumberClaim = Row<ThirdPartyNumber>;
const numbers = selection(columnsOf(ThirdPartyNumber, 'n', 'payment_no'), 'third_party_numbers n');

/** Claims the number for its payment unless another has it. @returns the payment it belongs to now */
export async function claimNumber(
  { type, third_party_no, payment_no }: NumberClaim,
  t: Transaction,
): Promise<string> {
  await change(
    `INSERT INTO third_party_numbers (type, third_party_no, payment_no) VALUES (:type, :third_party_no, :payment_no)
     ON DUPLICATE KEY UPDATE type = VALUES(type)`,
    { type, third_party_no, payment_no },
    t,
  );
  const owner = await numbers.first(
    'WHERE n.type = :type AND n.third_party_no = :third_party_no',
    { type, third_party_no },
    { t },
  );
  return owner?.payment_no ?? payment_no;
}
