// Random balance changes from many clients at once, and a check that their logs add up (docs/promises.md R15).
import { randomInt } from 'node:crypto';
import { select } from '../../../src/lib/database/db.js';
import type { Client } from '../client.js';
import { unique } from '../factories.js';
import { selectRow } from '../rows.js';

const clients = 64;

interface Tally {
  /** How many changes were answered with 200, and how many were refused for lack of money. */
  applied: number;
  insufficient: number;
  /** Answers that repeated an earlier one. */
  repeated: number;
}

/**
 * Sends that many random incomes, expenses and refunds for these users from 64 clients in turn over the callers; one in
 * five repeats a request sent before, at the same time or long ago.
 *
 * @throws Error when an answer is neither 200 nor insufficient_balance, or when a repeat is answered otherwise than the first
 */
export async function changeBalances(callers: Client[], userIds: number[], total: number): Promise<Tally> {
  const tally: Tally = { applied: 0, insufficient: 0, repeated: 0 };
  const sent: Change[] = [];
  const answers = new Map<string, string>();
  let left = total;
  const send = async (caller: Client, change: Change): Promise<void> => {
    const { userId, ...body } = change;
    const { status, errorCode, text, data } = await caller.post(`/users/${userId}/update-balance`, body);
    // Under this load a connection may not be free in time; callers with a request_id repeat.
    if (status === 503) return send(caller, change);
    if (errorCode === 'insufficient_balance') return void tally.insufficient++;
    if (status !== 200) throw new Error(`a change was refused: ${text}`);
    const answer = JSON.stringify(data);
    const earlier = answers.get(body.request_id);
    if (earlier === undefined) tally.applied++;
    else tally.repeated++;
    if (earlier !== undefined && earlier !== answer) throw new Error(`first ${earlier}, then ${answer}`);
    answers.set(body.request_id, answer);
  };
  const client = async (number: number): Promise<void> => {
    while (left-- > 0) {
      const repeats = sent.length > 0 && randomInt(5) === 0;
      const change = repeats ? (sent[randomInt(sent.length)] as Change) : newChange(userIds);
      if (!repeats) sent.push(change);
      await send(callers[(number + left) % callers.length] as Client, change);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  return tally;
}

interface Change {
  userId: number;
  type: string;
  amount: string;
  request_id: string;
}

function newChange(userIds: number[]): Change {
  const cents = randomInt(1, 100_000);
  return {
    userId: userIds[randomInt(userIds.length)] as number,
    type: ['income', 'expense', 'expense', 'refund'][randomInt(4)] as string,
    amount: (cents / 100).toFixed(2),
    request_id: unique('r'),
  };
}

/**
 * How many log rows a user has.
 *
 * @throws Error unless each begins where the one before ended, none is below zero and the last one is the balance
 */
export async function mustAddUp(userId: number): Promise<number> {
  const logs = await select<Log>(
    `SELECT id, type, CAST(amount * 100 AS SIGNED) AS amount, CAST(balance_before * 100 AS SIGNED) AS earlier,
       CAST(balance_after * 100 AS SIGNED) AS later
     FROM user_balance_logs WHERE user_id = ? ORDER BY id`,
    [userId],
  );
  const { cents } = await selectRow<{ cents: number }>(
    'SELECT CAST(balance * 100 AS SIGNED) AS cents FROM users WHERE id = ?',
    [userId],
  );
  let balance = 0;
  for (const { id, type, amount, earlier, later } of logs) {
    const expected = balance + (type === 'expense' ? -amount : amount);
    if (earlier !== balance || later !== expected || later < 0 || amount <= 0)
      throw new Error(`log ${id} goes from ${earlier} to ${later} by ${type} of ${amount}, after ${balance}`);
    balance = later;
  }
  if (cents !== balance) throw new Error(`the logs sum to ${balance}, the balance is ${cents}`);
  return logs.length;
}

interface Log {
  id: number;
  type: string;
  amount: number;
  earlier: number;
  later: number;
}
