// The endpoints of every log beside its list: show, delete, bulk delete, clean.
import Joi from 'joi';
import { fail } from '../../lib/errors/app-error.js';
import type { Text } from '../../lib/values/language.js';
import { idsBody } from '../../lib/input/schema.js';
import { cleanLogs, deleteLogs, type LogTable } from '../../models/logs/log.js';
import { integer, record, type Answer } from './response.js';
import { can, nounOf, route, type Route } from './route.js';

interface LogOf<T extends object> {
  /** The entries, as the names of the permissions say them. */
  title: Text;
  item: Answer<T>;
  find: (id: number) => Promise<T>;
}

/** The endpoints for one log. */
export function logRoutes<T extends object>(table: LogTable, { title, item, find }: LogOf<T>): Route[] {
  const segment = table.replaceAll('_', '-');
  const noun = table.replace(/s$/, '');
  const count = record({ count: integer() });
  const destroy = can(`${noun}.destroy`, `删除${title.zh}`, `Delete ${title.en}`);
  return [
    route('POST', `/${segment}/batch-delete`, {
      name: `delete${nounOf(noun)}s`,
      summary: 'Delete several entries',
      access: destroy,
      body: idsBody(1000),
      response: count,
      handle: async ({ body }) => ({ count: await deleteLogs(table, body.ids) }),
    }),
    route('POST', `/${segment}/clean`, {
      name: `clean${nounOf(noun)}s`,
      deadlineMs: Infinity,
      summary: 'Delete entries older than a number of days',
      access: can(`${noun}.clean`, `清理${title.zh}`, `Clean ${title.en}`),
      body: Joi.object<{ days: number }, true>({
        days: Joi.number().integer().min(0).max(36_500).required(),
      }),
      response: count,
      handle: async ({ body }) => ({ count: await cleanLogs(table, body.days) }),
    }),
    route('GET', `/${segment}/{id}`, {
      name: `show${nounOf(noun)}`,
      summary: 'Show an entry',
      access: can(`${noun}.show`, `查看${title.zh}`, `Show ${title.en}`),
      fails: ['log_not_found'],
      response: item,
      handle: ({ params }) => find(params.id),
    }),
    route('DELETE', `/${segment}/{id}`, {
      name: `delete${nounOf(noun)}`,
      summary: 'Delete an entry',
      access: destroy,
      fails: ['log_not_found'],
      async handle({ params }) {
        if ((await deleteLogs(table, [params.id])) === 0) fail('log_not_found');
      },
    }),
  ];
}
