// Fields and answers of a balance change, for /users/{id}/update-balance and POST /user-balance-logs.
import Joi from 'joi';
import { money, optionalMultiline, optionalText } from '../../lib/input/schema.js';
import { BalanceLog, balanceChangeTypes, User } from '../../models/trade/tables.js';
import { Admin } from '../../models/access/tables.js';
import { amount, keysOf, record, recordOrNull, resource } from './response.js';

/** The fields of a change. */
export const balanceChangeKeys = {
  amount: money(1n).required(),
  type: Joi.string()
    .valid(...balanceChangeTypes)
    .required(),
  source: Joi.string()
    .max(20)
    .pattern(/^[a-z][a-z0-9_]*$/)
    .default('manual'),
  source_id: optionalText(64),
  description: optionalMultiline(500),
  // Numbers of refunds are the ids of their own changes.
  request_id: Joi.string()
    .max(64)
    .pattern(/^(?!REF\d{8})[\x21-\x7e]+$/),
};

/** A log entry in answers. */
export const balanceLog = resource('UserBalanceLog', {
  ...keysOf(BalanceLog),
  user: recordOrNull(keysOf(User, 'id', 'username')),
  operator: recordOrNull(keysOf(Admin, 'id', 'username')),
});

export const balanceChanged = record({ balance: amount(), log: balanceLog });
