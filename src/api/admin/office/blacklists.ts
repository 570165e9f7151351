// /blacklists: blocked addresses.
import Joi from 'joi';
import { fail } from '../../../lib/errors/app-error.js';
import { idsBody, nonEmptyText, optionalMultiline, status } from '../../../lib/input/schema.js';
import {
  type BlacklistFields,
  blacklistQuery,
  createBlacklist,
  deleteBlacklists,
  getBlacklist,
  listBlacklists,
  updateBlacklist,
} from '../../../models/office/blacklist.js';
import { Blacklist } from '../../../models/office/tables.js';
import { described, integer, keysOf, pageOf, record, resource, text } from '../../declare/response.js';
import { can, required, route } from '../../declare/route.js';

const entry = resource(
  'BlacklistEntry',
  described(keysOf(Blacklist), {
    ip: ['Address, CIDR block or range first-last, in canonical form', '203.0.113.0/24'],
    status: ['0 disabled, 1 enabled'],
  }),
);

const fields = {
  ip: nonEmptyText(100).description('Address, CIDR block or range first-last').example('203.0.113.0/24'),
  remark: optionalMultiline(255),
  status: status(),
};

export const routes = [
  route('GET', '/blacklists', {
    name: 'listBlacklists',
    summary: 'List blocked addresses, with the caller’s own address',
    access: can('blacklist.index', '查看黑名单列表', 'List blacklist entries'),
    query: blacklistQuery,
    response: pageOf(entry, { client_ip: text() }),
    handle: async ({ query, ip }) => ({ ...(await listBlacklists(query)), client_ip: ip }),
  }),
  route('POST', '/blacklists', {
    name: 'createBlacklist',
    summary: 'Block an address, a CIDR block or a range first-last',
    description:
      'A single address, a CIDR block, or a range with both its ends written out. Stored in canonical form; an enabled entry that covers the caller’s own address is refused.',
    access: can('blacklist.store', '创建黑名单', 'Create blacklist entries'),
    body: Joi.object<BlacklistFields, true>(fields).fork(['ip'], required),
    fails: ['blacklist_covers_self', 'blacklist_exists', 'blacklist_ip_invalid', 'blacklist_not_found'],
    response: entry,
    handle: async ({ body, ip }) => getBlacklist(await createBlacklist(body, ip)),
    repeat: (id) => getBlacklist(id),
  }),
  route('DELETE', '/blacklists/batch', {
    name: 'deleteBlacklists',
    summary: 'Delete several entries',
    access: can('blacklist.destroy', '删除黑名单', 'Delete blacklist entries'),
    body: idsBody(1000),
    response: record({ count: integer() }),
    handle: async ({ body }) => ({ count: await deleteBlacklists(body.ids) }),
  }),
  route('GET', '/blacklists/{id}', {
    name: 'showBlacklist',
    summary: 'Show an entry',
    access: can('blacklist.show', '查看黑名单', 'Show blacklist entries'),
    fails: ['blacklist_not_found'],
    response: entry,
    handle: ({ params }) => getBlacklist(params.id),
  }),
  route('PUT', '/blacklists/{id}', {
    name: 'updateBlacklist',
    summary: 'Change an entry',
    access: can('blacklist.update', '修改黑名单', 'Change blacklist entries'),
    body: Joi.object<Partial<BlacklistFields>, true>(fields),
    fails: ['blacklist_covers_self', 'blacklist_exists', 'blacklist_ip_invalid', 'blacklist_not_found'],
    response: entry,
    subject: ({ params }, t) => getBlacklist(params.id, t),
    async handle({ params, body, ip }) {
      await updateBlacklist(params.id, body, ip);
      return getBlacklist(params.id);
    },
  }),
  route('DELETE', '/blacklists/{id}', {
    name: 'deleteBlacklist',
    summary: 'Delete an entry',
    access: can('blacklist.destroy', '删除黑名单', 'Delete blacklist entries'),
    fails: ['blacklist_not_found'],
    subject: ({ params }, t) => getBlacklist(params.id, t),
    async handle({ params }) {
      if ((await deleteBlacklists([params.id])) === 0) fail('blacklist_not_found');
    },
  }),
];
