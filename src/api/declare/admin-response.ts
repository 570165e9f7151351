// The fields of an administrator that the resource and the profile answer alike.
import { flag, integer, integerOrNull, listOf, record, recordOrNull, text, textOrNull } from './response.js';

export const adminKeys = {
  id: integer(),
  username: text(),
  nickname: text(),
  email: textOrNull(),
  phone: textOrNull(),
  avatar: textOrNull(),
  department_id: integerOrNull(),
  department: recordOrNull({ id: integer(), name: text() }),
  roles: listOf(record({ id: integer(), name: text(), slug: text() })),
  is_super_admin: flag(),
};
