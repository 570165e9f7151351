// Writes log entries into the log tables as the service does.
import { writeEntries } from '../../src/models/logs/log-entries.js';
import type { LoginEntry } from '../../src/models/logs/login-log.js';

export async function writeLogins(entries: LoginEntry[]): Promise<void> {
  await writeEntries(entries.map((entry) => ({ kind: 'login', entry })));
}
