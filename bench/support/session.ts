// Calls of the API that are not measured.
import { setTimeout as sleep } from 'node:timers/promises';
import { startApi, startWorker, type Process } from './processes.js';
import { adminPassword, type Site } from './site.js';

export type Headers = Record<string, string>;

export const json = { 'content-type': 'application/json' };

/** @returns the headers of a signed-in request */
export async function signIn(url: string, username = 'admin'): Promise<{ authorization: string }> {
  const body = { username, password: adminPassword };
  const { token } = await call<{ token: string }>(`${url}/api/admin/login`, {}, body);
  return { authorization: `Bearer ${token}` };
}

/** API, quick worker, and the first administrator signed in. */
export async function startService(
  site: Site,
): Promise<{ api: Process; headers: { authorization: string } }> {
  const [api] = await Promise.all([startApi(site), startWorker(site)]);
  return { api, headers: await signIn(api.url) };
}

/** Posts the body, or gets. @returns the `data` of the answer @throws Error unless it is 200 */
export async function call<T>(url: string, headers: Headers, body?: object): Promise<T> {
  const options = body && { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(url, { headers: { ...headers, ...(body && json) }, ...options });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${url} answered ${response.status} ${text}`);
  return (JSON.parse(text) as { data: T }).data;
}

interface BulkRecord {
  status: number;
  created_at: string;
  finished_at: string;
  success_count?: number;
}

/** Waits for the end of an export or import. @returns its record, and its seconds @throws Error when it failed */
export async function ended(url: string, headers: Headers): Promise<BulkRecord & { seconds: number }> {
  for (;;) {
    const record = await call<BulkRecord>(url, headers);
    const seconds = (Date.parse(record.finished_at) - Date.parse(record.created_at)) / 1000;
    if (record.status === 1) return { ...record, seconds };
    if (record.status === 2) throw new Error(`it ended with ${JSON.stringify(record)}`);
    await sleep(200);
  }
}
