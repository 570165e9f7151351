// Faults in the outbox of the log and in the jobs.
import type { Fault } from './fault.js';

const file = 'src/models/logs/log-outbox.ts';
const logTests = 'test/logs/logs.test.ts';

export const logs: Fault[] = [
  {
    file,
    from: `ON DUPLICATE KEY UPDATE entry = VALUES(entry), is_final = 1`,
    to: `ON DUPLICATE KEY UPDATE is_final = 1`,
    breaks: 'the entry of a write never says how its request ended',
    test: 'test/trade/channels.test.ts',
    match: '*a payment the channel refused*',
  },
  {
    file,
    from: `(is_final = 1 OR stored_at < NOW(3) - INTERVAL \${maxRequestSeconds} SECOND)`,
    to: `(is_final = 1)`,
    breaks: 'the entry of a write whose process died never comes into the log',
    test: logTests,
    match: 'the entry of a crashed process reaches the log after two minutes',
  },
  {
    file,
    from: `(is_final = 1 OR stored_at < NOW(3) - INTERVAL \${maxRequestSeconds} SECOND)`,
    to: `(is_final <= 1)`,
    breaks: 'the entry of a request that is under way is moved',
    test: logTests,
    match: 'the entry of a crashed process reaches the log after two minutes',
  },
  {
    file,
    from: `    if (size > 1) return moveOneByOne();`,
    to: `    if (size > 1) throw error;`,
    breaks: 'an entry that no table takes keeps all others waiting',
    test: logTests,
    match: 'an entry that no table*',
  },
  {
    file,
    from: `await execute(sql('DELETE FROM log_outbox WHERE id = :id', { id }));`,
    to: `await execute(sql('DELETE FROM log_outbox WHERE id >= :id ORDER BY id DESC LIMIT 1', { id }));`,
    breaks: 'instead of the entry that failed a good one is left out',
    test: logTests,
    match: 'an entry that no table*',
  },
  {
    file,
    from: `    if (moved !== 0) await announce(logTables);`,
    to: `    void moved;`,
    breaks: 'new log entries are not announced',
    test: 'test/logs/log-lists.test.ts',
    match: 'new entries are in the totals at once',
  },
  {
    file: 'src/models/logs/log-writing.ts',
    from: `const names = [...columns, 'created_at'];
  const places`,
    to: `const names = [...columns, 'created_at'];
  entries = entries.slice(0, 1);
  const places`,
    breaks: 'of many entries some are lost',
    test: logTests,
    match: 'concurrent entries are each written exactly once',
  },
  {
    file: 'src/jobs/log-keeping.ts',
    from: `    .catch(() => moveLogs(AbortSignal.timeout(writeLogs.timeoutMs)))`,
    to: ``,
    breaks: 'without Redis the log waits',
    test: logTests,
    match: 'without Redis entries reach the logs without the queue',
  },
  {
    file: 'src/jobs/maintain-tables.ts',
    from: `    await pruneCallbacks();`,
    to: ``,
    breaks: 'old callbacks stay for ever',
    test: 'test/trade/callback-retention.test.ts',
  },
  {
    file: 'src/jobs/job.ts',
    from: `      removeOnComplete: true,`,
    to: `      removeOnComplete: false,`,
    breaks: 'work whose row was left over cannot be queued again',
    test: 'test/trade/order-states.test.ts',
    match: 'an expiry job*',
  },
  {
    file: 'src/jobs/expire-order.ts',
    from: `key: ({ order_no }) => order_no,`,
    to: `key: ({ order_no }) => order_no.slice(0, 3),`,
    breaks: 'of all orders one expires',
    test: 'test/trade/sweep.test.ts',
  },
  {
    file: 'src/jobs/settle-payment.ts',
    from: `key: ({ id, period }) => \`\${period}-\${id}\`,`,
    to: `key: ({ period }) => \`\${period}-x\`,`,
    breaks: 'of all waiting callbacks one is queued',
    test: 'test/trade/sweep.test.ts',
  },
];
