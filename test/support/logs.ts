// Log entries put into the log tables the way the service does it.
import { moveLogs, storeItems } from '../../src/models/logs/log-outbox.js';
import type { LoginEntry } from '../../src/models/logs/login-log.js';

export async function writeLogins(entries: LoginEntry[]): Promise<void> {
  await storeItems(entries.map((entry) => ({ kind: 'login', entry })));
  await moveLogs(AbortSignal.timeout(10_000));
}
