// /search: one box that finds orders, payments, refunds, users, administrators and traces.
import Joi from 'joi';
import { config } from '../../../../config/index.js';
import { search, searchKinds, type SearchKind } from '../../../models/office/search.js';
import { shownTitle } from '../../declare/operation-log.js';
import { mayPass } from '../../declare/permission.js';
import { listOf, oneOf, record, resource, text } from '../../declare/response.js';
import { route } from '../../declare/route.js';

/** What a kind shows is what its page or list shows. */
const openedBy: Record<SearchKind, string[]> = {
  order: ['GET /api/admin/orders', 'GET /api/admin/orders/{id}'],
  payment: ['GET /api/admin/payments', 'GET /api/admin/payments/{id}'],
  refund: ['GET /api/admin/refunds', 'GET /api/admin/refunds/{id}'],
  user: ['GET /api/admin/users', 'GET /api/admin/users/{id}'],
  admin: ['GET /api/admin/admins', 'GET /api/admin/admins/{id}'],
  trace: ['GET /api/admin/operation-logs'],
};

const isOn = (kind: SearchKind): boolean =>
  (kind !== 'order' || config.app.ordersEnabled) &&
  ((kind !== 'payment' && kind !== 'refund') || config.payments.enabled);

const hit = resource('SearchHit', {
  kind: oneOf(...searchKinds).description('What the record is'),
  id: text().description('What the path of the record takes: a number or an id; for a trace the id itself'),
  title: text()
    .description('The number or name of the record')
    .example('ORD20261101M8160QT0WZ8N4M6K2T9R7C1E'),
  note: text().description(
    'What distinguishes it: the user of an order, the order of a payment, the payment of a refund',
  ),
  status: text().description('State of an order, payment or refund, 0 or 1 of a user or administrator'),
});

export const routes = [
  route('GET', '/search', {
    name: 'searchRecords',
    summary: 'Find records of every kind by one text',
    description:
      'At most five each of the orders, payments, refunds, users and administrators that the caller may list and show. Found by: a ' +
      'number, its beginning, or its end (at least six characters, of numbers of this month and the last); a third-party number; the ' +
      'beginning of a name, phone or e-mail address; the numeric id of a user. A trace id finds its operations.',
    access: 'signedIn',
    query: Joi.object<{ q: string }, true>({
      q: Joi.string().min(1).max(64).required().description('A number, a part of one, a name or a trace id'),
    }),
    response: record({ list: listOf(hit) }),
    async handle({ admin, query: { q } }) {
      const kinds = searchKinds.filter((kind) => isOn(kind) && mayPass(admin, openedBy[kind]));
      const hits = await search(q, kinds);
      return {
        list: hits.map((one) => (one.kind === 'trace' ? { ...one, note: shownTitle(one.note) } : one)),
      };
    },
  }),
];
