// One batch of an order import: some orders with their lines, the rows that were refused, and the position,
// in one transaction.
import type { Transaction } from 'sequelize';
import { now } from '../../lib/values/clock.js';
import { bulk, change, type SqlValue } from '../../lib/database/db.js';
import { newOrderNumber, periodOf } from '../../lib/values/numbers.js';
import { withPartition } from '../tables/partitions.js';
import { User } from '../trade/tables.js';
import { storeProblems } from './import-error.js';
import { advance, type Advance } from './import-progress.js';
import { problemsByRow, type OrderDraft } from './order-draft.js';
import type { Problem } from './order-sheet.js';
import type { Import } from './tables.js';

/**
 * Writes a batch, or only its refused rows in a dry run. Moving the position comes first: its lock makes another run
 * wait, which then finds the position moved.
 *
 * @returns false when nothing was written: another run was there first, or the import has ended
 */
export function writeBatch(
  { id, dry_run }: Pick<Import, 'id' | 'dry_run'>,
  drafts: readonly OrderDraft[],
  step: Pick<Advance, 'from' | 'rows' | 'progress'>,
): Promise<boolean> {
  const at = now();
  const write = async (t: Transaction): Promise<boolean> => {
    const { accepted, refused } = await judge(drafts, t);
    const succeeded = accepted.reduce((sum, { rows }) => sum + rows.length, 0);
    if (!(await advance(id, { ...step, succeeded, orders: accepted.length }, t))) return false;
    if (!dry_run && accepted.length > 0) await insertOrders(accepted, at, t);
    const problems = refused.flatMap(problemsByRow).sort((one, other) => one.row - other.row);
    await storeProblems(id, problems, t);
    return true;
  };
  return withPartition(['orders', 'order_details'], periodOf(at), () => bulk.transact(write));
}

// Users are looked up at the time of writing, as by POST /orders; also those of refused orders, so that all
// that is wrong with a row is reported at once.
async function judge(
  drafts: readonly OrderDraft[],
  t: Transaction,
): Promise<{ accepted: AcceptedDraft[]; refused: OrderDraft[] }> {
  const users = await usersOf(drafts, t);
  const accepted: AcceptedDraft[] = [];
  const refused: OrderDraft[] = [];
  for (const draft of drafts) {
    const { userId, username, userRow } = draft;
    const user = userId === undefined ? users.byName.get(nameKey(username)) : users.byId.get(userId);
    const isUserGiven = userRow > 0 && !draft.problems.some(({ column }) => userColumns.has(column));
    const unfit = isUserGiven ? userProblem(draft, user) : undefined;
    const problems = unfit ? [unfit, ...draft.problems] : draft.problems;
    if (problems.length > 0) refused.push({ ...draft, problems });
    else if (user) accepted.push({ ...draft, userId: user.id });
  }
  return { accepted, refused };
}

const userColumns: ReadonlySet<string> = new Set(['user_id', 'username']);

type AcceptedDraft = OrderDraft & { userId: number };

/** Names are equal whatever their case, as their unique key has it. */
const nameKey = (username = ''): string => username.toLowerCase();

async function usersOf(
  drafts: readonly OrderDraft[],
  t: Transaction,
): Promise<{ byId: Map<number, User>; byName: Map<string, User> }> {
  const ids = new Set(drafts.flatMap(({ userId }) => userId ?? []));
  const names = new Set(
    drafts.flatMap(({ userId, username }) => (userId === undefined ? (username ?? []) : [])),
  );
  const attributes = ['id', 'username', 'status'];
  const found = (where: object) =>
    User.findAll({ attributes, where: { ...where, deleted_at: null }, transaction: t });
  const numbered = ids.size > 0 ? await found({ id: [...ids] }) : [];
  const named = names.size > 0 ? await found({ username: [...names] }) : [];
  return {
    byId: new Map(numbered.map((user) => [user.id, user])),
    byName: new Map(named.map((user) => [nameKey(user.username), user])),
  };
}

/** Why an order cannot be placed for its user. */
function userProblem(
  { userId, username, userRow: row }: OrderDraft,
  user: User | undefined,
): Problem | undefined {
  const given =
    userId === undefined
      ? ({ column: 'username', value: username ?? '' } as const)
      : ({ column: 'user_id', value: String(userId) } as const);
  if (!user) return { row, ...given, reason: 'user_unknown' };
  if (username !== undefined && nameKey(username) !== nameKey(user.username))
    return { row, column: 'username', value: username, reason: 'user_mismatch', detail: user.id };
  return user.status === 1 ? undefined : { row, ...given, reason: 'user_disabled' };
}

// A million rows pass through here, so the values are put one by one into one array.
async function insertOrders(orders: readonly AcceptedDraft[], at: Date, t: Transaction): Promise<void> {
  const period = periodOf(at);
  const time = at.toISOString().slice(0, 23);
  const [heads, lines]: [SqlValue[], SqlValue[]] = [[], []];
  for (const { userId, amount, remark, lines: own } of orders) {
    const orderNo = newOrderNumber(at);
    heads.push(period, orderNo, userId, amount.toString(), remark, time, time);
    for (const { product_id, product_name, price, quantity } of own) {
      const subtotal = quantity === 1 ? price : price.times(quantity);
      lines.push(
        period,
        orderNo,
        product_id ?? null,
        product_name,
        price.toString(),
        quantity,
        subtotal.toString(),
      );
    }
  }
  await change(
    `INSERT INTO orders (period, order_no, user_id, amount, remark, created_at, updated_at) VALUES ${places(heads)}`,
    heads,
    t,
  );
  await change(
    `INSERT INTO order_details (period, order_no, product_id, product_name, price, quantity, subtotal)
     VALUES ${places(lines)}`,
    lines,
    t,
  );
}

/** Both statements name seven columns. */
const places = (values: SqlValue[]): string =>
  Array<string>(values.length / 7)
    .fill('(?, ?, ?, ?, ?, ?, ?)')
    .join(', ');
