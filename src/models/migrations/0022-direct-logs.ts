// Entries go into the logs directly: what is left in log_outbox follows, and the table goes.
import { outbox } from './0011-log-outbox.js';
import type { Migration } from './migration.js';

const shared = ['log_key', 'created_at'];
const logs = {
  operation: [
    ...[...shared, 'admin_id', 'username', 'module', 'action', 'title', 'method', 'path', 'ip', 'user_agent'],
    ...['request', 'status', 'duration_ms', 'changes', 'trace_id'],
  ],
  login: [
    ...[
      ...shared,
      'admin_id',
      'username',
      'ip',
      'user_agent',
      'browser',
      'os',
      'device',
      'status',
      'outcome',
    ],
  ],
  system: [...shared, 'level', 'module', 'message', 'context', 'trace_id'],
};

// Times are ISO 8601 in UTC; JSON null comes out as a text.
const valueOf = (name: string): string => {
  const text = `NULLIF(JSON_UNQUOTE(JSON_EXTRACT(entry, '$.${name}')), 'null')`;
  return name === 'created_at' ? `CAST(REPLACE(REPLACE(${text}, 'T', ' '), 'Z', '') AS DATETIME(3))` : text;
};

export const directLogs: Migration = {
  name: '0022-direct-logs',
  async up(run) {
    await run(outbox);
    for (const [kind, names] of Object.entries(logs))
      await run(
        `INSERT IGNORE INTO ${kind}_logs (period, ${names.join(', ')})
         SELECT REPLACE(SUBSTRING(JSON_UNQUOTE(JSON_EXTRACT(entry, '$.created_at')), 1, 7), '-', ''), ${names.map(valueOf).join(', ')}
         FROM log_outbox WHERE kind = '${kind}'`,
      );
    await run('DROP TABLE IF EXISTS log_outbox');
  },
  down: (run) => run(outbox),
};
