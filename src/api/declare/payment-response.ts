// A payment in answers.
import { Admin } from '../../models/access/tables.js';
import { Payment, PaymentMethod } from '../../models/trade/tables.js';
import { described, keysOf, recordOrNull } from './response.js';

export const shownMethod = recordOrNull(
  described(keysOf(PaymentMethod, 'id', 'name', 'code', 'type'), {
    type: ['Type of the payment channel', 'mock'],
  }),
);

export const paymentKeys = {
  ...described(keysOf(Payment), { status: ['pending, paid, failed or cancelled'] }),
  payment_method: shownMethod,
  assignee: recordOrNull(keysOf(Admin, 'id', 'username')).description('The administrator who handles it'),
};
