// Faults in the logs and in the jobs.
import type { Fault } from './fault.js';

const file = 'src/models/logs/log-entries.ts';
const logTests = 'test/logs/logs.test.ts';

export const logs: Fault[] = [
  {
    file,
    from: `columns.map((name) => \`\${name} = VALUES(\${name})\`).join(', ')`,
    to: `'log_key = log_key'`,
    breaks: 'the entry of a write never says what it changed',
    test: 'test/logs/log-lists.test.ts',
    match: 'an update logs the changed fields*',
  },
  {
    file: 'src/api/declare/write-unit.ts',
    from: `state.before = await route.subject?.(call, t)`,
    to: `state.before = await route.subject?.(call, undefined as never)`,
    breaks: 'what others changed is logged as changed by who came next',
    test: 'test/logs/log-changes.test.ts',
    match: 'an edit of a user*',
  },
  {
    file,
    from: `    if (items.length > 1) for (const item of items) await writeEntries([item]);
    else`,
    to: ``,
    breaks: 'an entry that no table takes keeps others out',
    test: logTests,
    match: 'an entry that no table*',
  },
  {
    file,
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
    file: 'src/jobs/write-logs.ts',
    from: `    .catch(() => writeEntries(items))`,
    to: ``,
    breaks: 'without Redis nothing is logged',
    test: logTests,
    match: 'without Redis entries reach the logs without the queue',
  },
  {
    file: 'src/jobs/maintain-tables.ts',
    from: `  pruneCallbacks,
`,
    to: ``,
    breaks: 'old callbacks stay for ever',
    test: 'test/trade/callback-retention.test.ts',
  },
  {
    file: 'src/jobs/job.ts',
    from: `      removeOnComplete: true,`,
    to: `      removeOnComplete: false,`,
    breaks: 'work whose row was left over cannot be queued again',
    test: 'test/trade/orders.test.ts',
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
