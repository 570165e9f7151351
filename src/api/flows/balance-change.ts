// Changing a balance, as /users/{id}/update-balance and POST /user-balance-logs take and answer it.
import Joi from 'joi';
import { money, optionalText } from '../../lib/schema.js';
import type { Operator } from '../../models/trade/balance.js';
import { balanceChangeTypes } from '../../models/trade/balance-log.js';
import type { Identity } from '../../models/access/identity.js';
import {
  amount,
  integer,
  integerOrNull,
  record,
  recordOrNull,
  resource,
  text,
  textOrNull,
  timestamp,
} from '../declare/response.js';

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
  description: optionalText(500),
  request_id: Joi.string()
    .max(64)
    .pattern(/^[\x21-\x7e]+$/),
};

/** A log entry as it is answered. */
export const balanceLog = resource('UserBalanceLog', {
  id: integer(),
  user_id: integer(),
  user: recordOrNull({ id: integer(), username: text() }),
  type: Joi.string()
    .valid(...balanceChangeTypes)
    .required(),
  amount: amount(),
  balance_before: amount(),
  balance_after: amount(),
  source: text(),
  source_id: textOrNull(),
  description: textOrNull(),
  request_id: textOrNull(),
  operator_id: integerOrNull(),
  operator: recordOrNull({ id: integer(), username: text() }),
  created_at: timestamp(),
});

export const balanceChanged = record({ balance: amount(), log: balanceLog });

/** The administrator as the one who changes a balance. */
export const operatorOf = ({ adminId, username }: Identity): Operator => ({ id: adminId, username });
