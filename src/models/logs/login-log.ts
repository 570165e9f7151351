// login_logs: every attempt to sign in.
import { currentLanguage } from '../../lib/process/context.js';
import { errorCatalogue, type ErrorSlug } from '../../lib/errors/catalogue.js';
import { say } from '../../lib/values/language.js';
import { canonicalPart } from '../../lib/values/ip.js';
import { listQuery, Where, type Criteria, type ListQuery, type Page } from '../../lib/input/list-query.js';
import { id, status, textFilter } from '../../lib/input/schema.js';
import { columnsOf, type RowOf, selection } from '../tables/selection.js';
import type { Listed } from '../tables/table.js';
import { getLog, type EntryOf } from './log.js';
import { LoginLog } from './tables.js';

export type LoginEntry = EntryOf<LoginLog>;

const loginFilters = {
  admin_id: id(),
  username: textFilter(50),
  ip: textFilter(45),
  status: status(),
};

type LoginFilter = Criteria<typeof loginFilters> & ListQuery;

/** The query of the list. */
export const loginQuery = listQuery<LoginFilter>(['id', 'status', 'created_at'], loginFilters);

type LoginRecord = Listed<LoginLog> & {
  /** The outcome in the reader's language. */
  message: string;
};

const shown = { ...columnsOf(LoginLog, 'l'), ...columnsOf(LoginLog, 'l', 'outcome') };
const logs = selection(shown, 'login_logs l');

export async function listLogins(query: LoginFilter): Promise<Page<LoginRecord>> {
  const where = new Where()
    .equals('l.admin_id', query.admin_id)
    .contains('l.username', query.username)
    .contains('l.ip', canonicalPart(query.ip))
    .equals('l.status', query.status)
    .during('l.created_at', query, 'l.period');
  const page = await logs.page(query, where);
  return { ...page, list: page.list.map(toRecord) };
}

/** @throws log_not_found */
export async function getLogin(id: number): Promise<LoginRecord> {
  return toRecord(await getLog(logs, id));
}

const success = { zh: '登录成功', en: 'Signed in' };

function toRecord({ outcome, ...row }: RowOf<typeof shown>): LoginRecord {
  const text = outcome === 'login_success' ? success : errorCatalogue[outcome as ErrorSlug];
  return { ...row, message: text ? say(text, currentLanguage()) : outcome };
}
