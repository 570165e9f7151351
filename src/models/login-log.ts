// login_logs: every attempt to sign in.
import { writeLogs } from './operation-log.js';

export interface LoginEntry {
  /** ULID; an entry written twice stays one row. */
  log_key: string;
  admin_id: number | null;
  username: string;
  ip: string;
  user_agent: string;
  browser: string;
  os: string;
  /** 0 failure, 1 success. */
  status: number;
  /** Error slug, or login_success; told in the reader's language. */
  outcome: string;
  /** ISO 8601 in UTC. */
  created_at: string;
}

const columns = [
  ...['log_key', 'admin_id', 'username', 'ip', 'user_agent', 'browser', 'os', 'status', 'outcome'],
] as (keyof LoginEntry)[];

/** Writes a batch in one statement. */
export function writeLogins(entries: LoginEntry[]): Promise<void> {
  return writeLogs('login_logs', columns, entries);
}
