// third_party_numbers: which payment a channel's number belongs to, over all months. A number pays one payment.
import type { Transaction } from 'sequelize';
import { isDuplicate } from '../../lib/database/errors.js';
import { insertRow } from '../tables/rows.js';
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
  try {
    await insertRow(ThirdPartyNumber, { type, third_party_no, payment_no }, t);
    return payment_no;
  } catch (error) {
    if (!isDuplicate(error, 'PRIMARY')) throw error;
    const owner = await numbers.first(
      'WHERE n.type = :type AND n.third_party_no = :third_party_no',
      { type, third_party_no },
      { t },
    );
    return owner?.payment_no ?? payment_no;
  }
}
