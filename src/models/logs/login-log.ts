// login_logs: every attempt to sign in.
import { currentLanguage } from '../../lib/context.js';
import { errorCatalogue, type ErrorSlug } from '../../lib/error-catalogue.js';
import { say } from '../../lib/language.js';
import { Where, type ListQuery, type Page } from '../../lib/list-query.js';
import { findLog, listLogs } from './log.js';

export interface LoginEntry {
  /** ULID; an entry written twice stays one row. */
  log_key: string;
  admin_id: number | null;
  username: string;
  ip: string;
  user_agent: string;
  browser: string;
  os: string;
  /** desktop, mobile, tablet or other. */
  device: string;
  /** 0 failure, 1 success. */
  status: number;
  /** Error slug, or login_success; told in the reader's language. */
  outcome: string;
  /** ISO 8601 in UTC. */
  created_at: string;
}

export const loginColumns = [
  ...['log_key', 'admin_id', 'username', 'ip', 'user_agent', 'browser', 'os', 'device', 'status', 'outcome'],
] as (keyof LoginEntry)[];

export interface LoginFilter extends ListQuery {
  admin_id?: number;
  username?: string;
  ip?: string;
  status?: number;
}

export const loginSortable = ['id', 'status', 'created_at'] as const;

export interface LoginRecord extends Omit<LoginEntry, 'log_key' | 'outcome' | 'device' | 'created_at'> {
  id: number;
  /** What came of it, in the reader's language. */
  message: string;
  created_at: Date;
}

const shown = `l.id, l.admin_id, l.username, l.ip, l.user_agent, l.browser, l.os, l.status, l.outcome, l.created_at`;

export async function listLogins(query: LoginFilter, mark?: string): Promise<Page<LoginRecord>> {
  const where = new Where()
    .equals('l.admin_id', query.admin_id)
    .contains('l.username', query.username)
    .contains('l.ip', query.ip)
    .equals('l.status', query.status)
    .during('l.created_at', query);
  const page = await listLogs<StoredLogin>('login_logs', shown, where, query, mark);
  return { ...page, list: page.list.map(toRecord) };
}

/** @throws log_not_found */
export async function findLogin(id: number): Promise<LoginRecord> {
  return toRecord(await findLog<StoredLogin>('login_logs', shown, id));
}

type StoredLogin = Omit<LoginRecord, 'message'> & { outcome: string };

const success = { zh: '登录成功', en: 'Signed in' };

function toRecord({ outcome, ...row }: StoredLogin): LoginRecord {
  const text = outcome === 'login_success' ? success : errorCatalogue[outcome as ErrorSlug];
  return { ...row, message: text ? say(text, currentLanguage()) : outcome };
}
