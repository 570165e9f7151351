// /users: the customers who place orders.
import Joi from 'joi';
import { listKeys } from '../../lib/list-query.js';
import { newPassword } from '../../lib/password-policy.js';
import { email, idParam, optionalText, phone, status } from '../../lib/schema.js';
import { User, userSortable, userTotals, type UserFields, type UserFilter } from '../../models/user.js';
import {
  amount,
  integer,
  pageOf,
  record,
  text,
  textOrNull,
  timestamp,
  timestampOrNull,
} from '../response.js';
import { can, route } from '../route.js';

const user = record({
  id: integer(),
  username: text(),
  nickname: text(),
  avatar: textOrNull(),
  email: textOrNull(),
  phone: textOrNull(),
  balance: amount(),
  status: integer(),
  last_login_at: timestampOrNull(),
  created_at: timestamp(),
  updated_at: timestamp(),
});

const filter = (max: number) => Joi.string().allow('').max(max);

export const routes = [
  route({
    method: 'GET',
    path: '/users',
    summary: 'List users',
    access: can('user.index', 'List users'),
    query: Joi.object<UserFilter, true>({
      ...listKeys(userSortable),
      username: filter(50),
      nickname: filter(50),
      email: filter(100),
      phone: filter(30),
      status: status(),
    }),
    response: pageOf(user),
    versions: [userTotals.scope],
    handle: ({ query, marks }) => User.list(query, marks[0]),
  }),
  route({
    method: 'POST',
    path: '/users',
    summary: 'Create a user',
    access: can('user.store', 'Create users'),
    body: Joi.object<UserFields, true>({
      username: Joi.string()
        .min(3)
        .max(50)
        .pattern(/^[A-Za-z0-9_.@-]+$/)
        .required(),
      password: newPassword(),
      nickname: optionalText(50),
      avatar: optionalText(500),
      email: email(),
      phone: phone(),
      status: status(),
    }),
    response: user,
    handle: async ({ body }) => User.record(await User.register(body)),
  }),
  route({
    method: 'GET',
    path: '/users/{id}',
    summary: 'Show a user',
    access: can('user.show', 'Show users'),
    params: idParam,
    response: user,
    handle: ({ params }) => User.record(params.id),
  }),
];
