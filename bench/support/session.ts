// Calls of the API that are not measured: signing in, making a record, reading a list.
import { adminPassword } from './site.js';

export interface Page {
  list: Record<string, unknown>[];
  total: number;
}

/** Signs an administrator in, usually the first one. @returns the headers of a signed-in request */
export async function signIn(url: string, username = 'admin'): Promise<{ authorization: string }> {
  const { token } = await call<{ token: string }>(
    `${url}/api/admin/login`,
    {},
    { username, password: adminPassword },
  );
  return { authorization: `Bearer ${token}` };
}

/** Makes another administrator who may do everything. */
export async function makeAdmin(url: string, username: string): Promise<void> {
  const record = { username, password: adminPassword, nickname: username, role_ids: [1] };
  await call(`${url}/api/admin/admins`, await signIn(url), record);
}

/** The `data` of an answer. @throws Error unless it is 200 */
export async function call<T>(url: string, headers: Record<string, string> = {}, body?: object): Promise<T> {
  const response = await fetch(url, {
    method: body ? 'POST' : 'GET',
    headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${url} answered ${response.status} ${text}`);
  return (JSON.parse(text) as { data: T }).data;
}

/** Id of the session a token belongs to. */
export function sessionOf({ authorization }: { authorization: string }): string {
  const claims = Buffer.from(authorization.split('.')[1] as string, 'base64url').toString();
  return (JSON.parse(claims) as { jti: string }).jti;
}
