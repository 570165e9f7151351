// /online-admins: sessions used in the last 15 minutes.
import Joi from 'joi';
import { fail } from '../../../lib/errors/app-error.js';
import { refuseField } from '../../../lib/input/validation.js';
import { isId } from '../../../lib/values/numbers.js';
import { kickOut, listOnline, onlineQuery } from '../../../models/access/online-admin.js';
import { Admin, AdminSession } from '../../../models/access/tables.js';
import { flag, integer, keysOf, pageOf, record, resource, timestamp } from '../../declare/response.js';
import { can, route } from '../../declare/route.js';

const session = resource('Session', {
  ...keysOf(AdminSession, 'id', 'admin_id', 'ip', 'browser', 'os', 'created_at'),
  ...keysOf(Admin, 'username', 'nickname'),
  last_active: timestamp(),
  is_current: flag(),
});

const access = can('online_admin.kick_out', '强制在线管理员下线', 'End sessions of online administrators');
const maxAtOnce = 100;

export const routes = [
  route('GET', '/online-admins', {
    name: 'listOnlineAdmins',
    summary: 'List online administrators',
    access: can('online_admin.index', '查看在线管理员', 'List online administrators'),
    query: onlineQuery,
    response: pageOf(session),
    handle: ({ admin, query }) => listOnline(admin, query),
  }),
  route('POST', '/online-admins/batch-kick-out', {
    name: 'endSessions',
    summary: 'End several sessions',
    description: '`token_ids`: session ids, comma separated, at most 100.',
    access,
    body: Joi.object<{ token_ids: string }, true>({ token_ids: Joi.string().min(1).max(2000).required() }),
    fails: ['grant_beyond_own', 'super_admin_protected'],
    response: record({ count: integer() }),
    handle: async ({ admin, body }) => ({ count: await kickOut(admin, readIds(body.token_ids)) }),
  }),
  route('DELETE', '/online-admins/{id}', {
    name: 'endSession',
    summary: 'End a session at once',
    access,
    fails: ['grant_beyond_own', 'online_admin_not_found', 'super_admin_protected'],
    async handle({ admin, params }) {
      if ((await kickOut(admin, [params.id])) === 0) fail('online_admin_not_found');
    },
  }),
];

function readIds(text: string): number[] {
  const parts = text.split(',').map((part) => part.trim());
  const isReadable = parts.length <= maxAtOnce && parts.every(isId);
  if (isReadable) return parts.map(Number);
  return refuseField('value_not_acceptable', 'token_ids', 'string.pattern.base');
}
