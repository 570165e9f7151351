// The fields of an administrator that the resource and the profile answer alike.
import Joi from 'joi';
import { flag, integer, listOf, record, recordOrNull, text, textOrNull } from './response.js';

export const adminKeys = {
  id: integer(),
  username: text(),
  nickname: text(),
  email: textOrNull(),
  phone: textOrNull(),
  avatar: textOrNull(),
  department_id: Joi.number().integer().allow(null).required(),
  department: recordOrNull({ id: integer(), name: text() }),
  roles: listOf(record({ id: integer(), name: text(), slug: text() })),
  is_super_admin: flag(),
};
