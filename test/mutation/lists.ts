// Faults in totals and pages, and in the versions of what decides access.
import type { Fault } from './fault.js';

const count = 'src/models/tables/count.ts';
const page = 'src/models/tables/page.ts';
const versions = 'src/models/tables/versions.ts';
const tests = 'test/tables/lists.test.ts';
const figures = 'test/office/figures.test.ts';

export const lists: Fault[] = [
  {
    file: count,
    from: `costMs < quickMs ? 0 : Math.max(keepMs, ageInCosts * costMs)`,
    to: `ageInCosts * costMs + 1000`,
    breaks: 'a quick total is cached',
    test: 'test/trade/concurrency.test.ts',
    match: 'every process counts what another has just written',
  },
  {
    file: count,
    from: `costMs < quickMs ? 0 : Math.max(keepMs, ageInCosts * costMs)`,
    to: `0`,
    breaks: 'a slow total is counted on every request',
    test: tests,
    match: 'a slow count is cached*',
  },
  {
    file: count,
    from: `age < maxAge - result.costMs`,
    to: `age >= 0`,
    breaks: 'a slow total is cached for ever',
    test: tests,
    match: 'a slow count is cached*',
  },
  {
    file: page,
    from: `isLast ? offset + list.length : total`,
    to: `total`,
    breaks: 'a short list shows an old total',
    test: tests,
    match: 'a slow count is cached*',
  },
  {
    file: page,
    from: `await read(behind, size, true)`,
    to: `await read(behind, size, false)`,
    breaks: 'pages near the end are those near the beginning',
    test: tests,
    match: 'every page sorted by amount*',
  },
  {
    file: page,
    from: `const size = Math.min(query.page_size, total - offset);`,
    to: `const size = query.page_size;`,
    breaks: 'the last page is too long',
    test: tests,
    match: 'every page sorted by amount*',
  },
  {
    file: page,
    from: `\${found} \${orderSql(query, alias)}`,
    to: `\${found} \${orderSql(query, alias, true)}`,
    breaks: 'pages come upside down',
    test: tests,
    match: 'any page of*',
  },
  {
    file: 'src/models/office/notification-inbox.ts',
    from: `box.and('r.read_at IS NULL AND n.created_at > ?', until)`,
    to: `box.and('n.created_at > ?', until)`,
    breaks: 'what was read one by one stays unread',
    test: figures,
  },
  {
    file: 'src/models/office/notification.ts',
    from: `await NotificationRead.destroy({ where: { notification_id: ids }, transaction: t });`,
    to: ``,
    breaks: 'who has read a notification stays when it is gone',
    test: figures,
  },
  {
    file: 'src/models/figures/dashboard.ts',
    from: `ORDER BY l.id DESC`,
    to: `ORDER BY l.ip DESC, l.id DESC`,
    breaks: 'the dashboard reads the whole log',
    test: figures,
  },
  {
    file: versions,
    from: `known && mark === known.mark && performance`,
    to: `known && performance`,
    breaks: 'a change elsewhere counts seconds later',
    test: 'test/access/session.test.ts',
  },
  {
    file: versions,
    from: `      await raise(touched, t);
`,
    to: ``,
    breaks: 'a change raises no number',
    test: 'test/access/session.test.ts',
  },
  {
    file: 'src/models/trade/order-placement.ts',
    from: `  announce(['orders']);
`,
    to: ``,
    breaks: 'open pages hear nothing of a new order',
    test: 'test/office/live.test.ts',
    match: 'every socket receives changes in few frames',
  },
];
