// A refund in answers.
import { Admin } from '../../models/access/tables.js';
import { Refund } from '../../models/trade/channel-tables.js';
import { User } from '../../models/trade/tables.js';
import { shownMethod } from './payment-response.js';
import { described, keysOf, recordOrNull, resource } from './response.js';

export const refund = resource('Refund', {
  ...described(keysOf(Refund), {
    status: [
      'waiting (for approval), pending (not sent yet), processing (sent, without a final answer), succeeded, failed or rejected',
      'succeeded',
    ],
    reason: ['Why the money goes back', 'The tea was sold out'],
    code: ["The channel's latest state of it; null for none", 'SUCCESS'],
    fail_reason: [
      'Why a person must look at it, what the channel said last, or why it was rejected; null for none',
      null,
    ],
    finished_at: ['When it succeeded, failed or was rejected; null until then', '2026-11-22T08:31:14.000Z'],
  }),
  user: recordOrNull(keysOf(User, 'id', 'username')).description('The user whose payment it is'),
  payment_method: shownMethod,
  requester: recordOrNull(keysOf(Admin, 'id', 'username')),
  approver: recordOrNull(keysOf(Admin, 'id', 'username')),
});
