// Faults in totals, their journal, the marks and numbers that keep copies right, and the pages of months.
import type { Fault } from './fault.js';

const totals = 'src/models/tables/totals.ts';
const tally = 'src/models/tables/tally.ts';
const pages = 'src/models/tables/month-pages.ts';
const part = 'src/models/tables/part.ts';
const steps = 'src/models/tables/amount-steps.ts';
const versions = 'src/models/tables/versions.ts';
const amountPages = 'test/trade/amount-pages.test.ts';
const listTests = 'test/trade/lists.test.ts';
const oldRows = 'test/trade/old-rows.test.ts';
const exact = 'test/faults/lists.test.ts';

export const lists: Fault[] = [
  {
    file: tally,
    from: `Number(state?.epoch), toVersion(state?.version)]`,
    to: `Number(state?.epoch), state?.version as unknown as number]`,
    breaks: 'every total is counted anew each time',
    test: oldRows,
  },
  {
    file: totals,
    from: `mark === undefined || mark !== kept?.mark || isUnannounced(this.scope)`,
    to: `mark === undefined || isUnannounced(this.scope)`,
    breaks: 'a total is used although its mark is new',
    test: listTests,
    match: 'each kind of write*',
  },
  {
    file: totals,
    from: `performance.now() - kept.checkedAt < trustMs`,
    to: `performance.now() - kept.checkedAt < Infinity`,
    breaks: 'a total is trusted for ever while no mark comes',
    test: exact,
    match: 'every list is exact within 3 s after any fault',
  },
  {
    file: tally,
    from: `[first, plus(first, second)] : [minus(first, second), first]`,
    to: `[first, first] : [minus(first, second), first]`,
    breaks: 'new rows above the watermark are not counted',
    test: listTests,
    match: 'each kind of write*',
  },
  {
    file: tally,
    from: `[\`\${a}.id <= \${base.watermark}\`,`,
    to: `[\`\${a}.id > \${base.watermark}\`,`,
    breaks: 'changes of old rows are passed over',
    test: oldRows,
  },
  {
    file: tally,
    from: `add(month ?? \`'all'\`, \`-SUM(\${alias}.sign)\``,
    to: `add(month ?? \`'all'\`, \`SUM(\${alias}.sign)\``,
    breaks: 'a new filter counts the open journal twice',
    test: oldRows,
  },
  {
    file: tally,
    from: `const isSame = changes.version === usable.version;`,
    to: `const isSame = true;`,
    breaks: 'rows deleted for good are still counted',
    test: 'test/logs/log-lists.test.ts',
    match: 'entries can be deleted singly, in bulk and by age',
  },
  {
    file: 'src/models/office/notification-inbox.ts',
    from: `read_above = read_above + (read_until < :created_at)`,
    to: `read_above = read_above + (read_until > :created_at)`,
    breaks: 'what was read one by one stays unread',
    test: 'test/office/constant-reads.test.ts',
  },
  {
    file: 'src/models/office/notification-retention.ts',
    from: `SET m.read_above = m.read_above - old.gone`,
    to: `SET m.read_above = m.read_above`,
    breaks: 'unread counts are wrong once old notifications are gone',
    test: 'test/office/constant-reads.test.ts',
  },
  {
    file: 'src/models/figures/dashboard.ts',
    from: `FROM \${log} ORDER BY id DESC`,
    to: `FROM \${log} ORDER BY created_at DESC, id DESC`,
    breaks: 'the dashboard reads the whole log',
    test: 'test/office/constant-reads.test.ts',
  },
  {
    file: 'src/models/tables/list-journal.ts',
    from: `SELECT -1 AS sign UNION ALL SELECT 1`,
    to: `SELECT -1 AS sign UNION ALL SELECT -1`,
    breaks: 'the journal takes rows away and never brings them back',
    test: oldRows,
  },
  {
    file: versions,
    from: `    return await write();
  } finally {
    await announce(touched);
  }`,
    to: `    const written = await write();
    await announce(touched);
    return written;
  } finally {
    void touched;
  }`,
    breaks: 'a change whose COMMIT was not answered is not announced',
    test: exact,
    match: 'every list is exact within 3 s after any fault',
  },
  {
    file: versions,
    from: `mark === undefined || mark !== stamped.mark || isUnannounced(scope)`,
    to: `mark === undefined || isUnannounced(scope)`,
    breaks: 'a copy is used although its mark is new',
    test: 'test/office/blacklists.test.ts',
  },
  {
    file: versions,
    from: `      await raise(touched, t);
`,
    to: ``,
    breaks: 'a change raises no number',
    test: 'test/office/blacklists.test.ts',
  },
  {
    file: 'src/lib/redis/marks.ts',
    from: `  const batch = gathering ?? gather();`,
    to: `  if (scopes.length > 0) return Promise.resolve();
  const batch = gathering ?? gather();`,
    breaks: 'no change is announced at all',
    test: exact,
    match: 'every list is exact within 3 s after any fault',
  },
  {
    file: pages,
    from: `const matching = where.with(\`\${alias}.id IN (?) AND \${alias}.period IN (?)\`, ids, months);`,
    to: `const matching = new (where.constructor as new () => Where)().with(
    \`\${alias}.id IN (?) AND \${alias}.period IN (?)\`,
    ids,
    months,
  );`,
    breaks: 'a list shows rows that no longer match its filter',
    test: exact,
    match: 'a list with one row shows either that row or nothing',
  },
  {
    file: pages,
    from: `  if (keys.length === 0) return false;`,
    to: ``,
    breaks: 'a list whose rows vanish answers 500',
    test: exact,
    match: 'a list with one row shows either that row or nothing',
  },
  {
    file: pages,
    from: `return isReversed ? keys.reverse() : keys;`,
    to: `return keys;`,
    breaks: 'pages near the end come upside down',
    test: 'test/trade/pages.test.ts',
  },
  {
    file: part,
    from: `offset: offset - before, size }`,
    to: `offset, size }`,
    breaks: 'a page that lies in a later month skips rows',
    test: 'test/trade/pages.test.ts',
  },
  {
    file: steps,
    from: `\${alias}.amount < ?`,
    to: `\${alias}.amount <= ?`,
    breaks: 'a deep page by amount counts the least amount of the next step',
    test: amountPages,
  },
  {
    file: steps,
    from: `const sign = order_by[0]?.direction === 'DESC' ? -1 : 1;`,
    to: `const sign = order_by[0]?.direction === 'DESC' ? -1 : -1;`,
    breaks: 'a deep page by rising amount is one of the other end',
    test: amountPages,
  },
];
