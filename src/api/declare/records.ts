// The records that several resources answer, and fields that several take.
import Joi from 'joi';
import { money, optionalMultiline, optionalText } from '../../lib/input/schema.js';
import { queueNames } from '../../lib/queue/names.js';
import { Admin, Department, Menu, Role } from '../../models/access/tables.js';
import { Attachment } from '../../models/files/tables.js';
import { Refund } from '../../models/trade/channel-tables.js';
import { attentionTexts } from '../../models/trade/payment-attention.js';
import { BalanceLog, balanceChangeTypes, Payment, PaymentMethod, User } from '../../models/trade/tables.js';
import {
  amount,
  described,
  enabled,
  flag,
  forestOf,
  integer,
  keysOf,
  listOf,
  record,
  recordOrNull,
  resource,
  text,
} from './response.js';

export const adminKeys = {
  ...keysOf(Admin, 'id', 'username', 'nickname', 'email', 'phone', 'avatar', 'department_id'),
  department: recordOrNull(keysOf(Department, 'id', 'name')),
  roles: listOf(record(keysOf(Role, 'id', 'name', 'slug'))),
  is_super_admin: flag(),
};

/** How records name an administrator or a user. */
export const namedAdmin = recordOrNull(keysOf(Admin, 'id', 'username'));
export const namedUser = recordOrNull(keysOf(User, 'id', 'username'));

const menuKeys = { ...keysOf(Menu), status: enabled() };

export const menuRecord = resource('Menu', { ...menuKeys, in_use: flag() });

export const menuForest = forestOf('MenuNode', menuKeys);

export const attachment = resource('Attachment', {
  ...described(keysOf(Attachment), { type: ['image, document, video or other'] }),
  admin: namedAdmin,
  url: text().description('Path of its preview').example('/api/admin/attachments/42/preview'),
});

const method = recordOrNull(
  described(keysOf(PaymentMethod, 'id', 'name', 'code', 'type'), {
    type: ['Type of the payment channel', 'mock'],
  }),
);

export const paymentKeys = {
  ...described(keysOf(Payment), {
    status: ['pending, paid, failed or cancelled'],
    fail_reason: [
      `Why a person must look at it (${Object.keys(attentionTexts).join(', ')}), or why it could not be placed; null for none`,
      null,
    ],
  }),
  payment_method: method,
  assignee: namedAdmin.description('The administrator who handles it'),
};

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
  user: namedUser.description('The user whose payment it is'),
  payment_method: method,
  requester: namedAdmin,
  approver: namedAdmin,
});

/** Clears the flag of a payment or refund, for the reason that the person has seen. */
export const clearingKeys = {
  needs_attention: Joi.boolean(),
  fail_reason: Joi.string()
    .allow(null)
    .max(255)
    .when('needs_attention', { is: Joi.valid(false).required(), then: Joi.required() }),
};

/** The fields of a balance change. */
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

/** A balance change in answers. */
export const balanceLog = resource('UserBalanceLog', {
  ...keysOf(BalanceLog),
  user: namedUser,
  operator: namedAdmin,
});

export const balanceChanged = record({ balance: amount(), log: balanceLog });

export const queueKeys = {
  name: Joi.string()
    .valid(...queueNames)
    .required()
    .description('Name of the queue'),
  waiting: integer().description('Jobs that wait').example(0),
  active: integer().description('Jobs that run').example(1),
  delayed: integer().description('Jobs that wait for their time').example(3),
  failed: integer().description('Jobs that failed for good').example(0),
  oldest_seconds: integer().description('Seconds that the oldest job has waited').example(0),
};
