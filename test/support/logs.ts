// Log entries put into the log tables the way the service does it.
import { writeEntries } from '../../src/models/logs/log-entries.js';
import type { LoginEntry } from '../../src/models/logs/login-log.js';

export async function writeLogins(entries: LoginEntry[]): Promise<void> {
  await writeEntries(entries.map((entry) => ({ kind: 'login', entry })));
}
