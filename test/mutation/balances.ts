// Faults in the balances of users.
import type { Fault } from './fault.js';

const file = 'src/models/trade/balance.ts';
const logs = 'src/models/trade/balance-log.ts';
const test = 'test/trade/users.test.ts';

export const balances: Fault[] = [
  {
    file,
    from: `WHERE u.id = :userId AND u.deleted_at IS NULL FOR UPDATE`,
    to: `WHERE u.id = :userId AND u.deleted_at IS NULL`,
    breaks: 'a balance is read without its lock',
    test,
    match: 'hundreds of concurrent changes*',
  },
  {
    file,
    from: `WHERE u.id = :userId AND u.deleted_at IS NULL FOR UPDATE`,
    to: `WHERE u.id = :userId FOR UPDATE`,
    breaks: 'a deleted user gets money',
    test: 'test/trade/users.test.ts',
    match: 'a deleted user*',
  },
  {
    file,
    from: `wanted.type === 'expense' ?`,
    to: `wanted.type !== 'income' ?`,
    breaks: 'a refund takes money',
    test,
    match: 'incomes and refunds*',
  },
  {
    file,
    from: `  if (after.isNegative) fail('insufficient_balance');`,
    to: ``,
    breaks: 'a balance goes below zero',
    test,
    match: 'a balance stays between*',
  },
  {
    file,
    from: `  if (!after.withinLimit) fail('balance_limit_exceeded');`,
    to: ``,
    breaks: 'a balance goes above the limit',
    test,
    match: 'a balance stays between*',
  },
  {
    file,
    from: `  if (!isSame) fail('request_id_reused', { field: 'request_id' });`,
    to: `  void isSame;`,
    breaks: 'another change under a used request_id is answered as done',
    test,
    match: 'one request_id*',
  },
  {
    file,
    from: `if (wanted.request_id === undefined) return undefined;`,
    to: `if (wanted.request_id !== '') return undefined;`,
    breaks: 'a repeated request_id is not known',
    test,
    match: 'one request_id takes effect once',
  },
  {
    file,
    from: `if (!isDuplicate(error, 'uq_user_balance_logs_request')) throw error;`,
    to: `throw error;`,
    breaks: 'two users under one request_id at once are an internal error',
    test,
    match: 'concurrent requests with one request_id*',
  },
  {
    file,
    from: `balance_before: before,`,
    to: `balance_before: after,`,
    breaks: 'a log does not hold the balance before it',
    test,
    match: 'incomes and refunds*',
  },
  {
    file: logs,
    from: `    .equalsAscii('l.source', criteria.source)`,
    to: ``,
    breaks: 'the filter by source is ignored',
    test,
    match: 'balance logs are filtered*',
  },
  {
    file: logs,
    from: `total_refund: of('refund')`,
    to: `total_refund: of('income')`,
    breaks: 'refunds are summed as incomes',
    test,
    match: 'statistics sum*',
  },
];
