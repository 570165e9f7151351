// Nightly maintenance: month partitions ahead of time, retention of every table, secrets under the current
// APP_KEY, whether money adds up.
import Joi from 'joi';
import { inBoth } from '../lib/values/language.js';
import { pruneSessions } from '../models/access/admin-session.js';
import { pruneIdempotencyKeys } from '../models/trade/idempotency-key.js';
import { checkEquations } from '../models/figures/consistency.js';
import { pruneLogs } from '../models/logs/log.js';
import { pruneFailedJobs } from '../models/office/failed-job.js';
import { extendPartitions } from '../models/tables/partitions.js';
import { pruneNumbers } from '../models/trade/third-party-number.js';
import { pruneCallbacks } from '../models/trade/payment-callback.js';
import { pruneNotifications } from '../models/office/notification.js';
import { resealSecrets } from '../models/trade/payment-method.js';
import { sendNotification } from './deliver-notification.js';
import { job } from './job.js';

const steps: readonly (() => Promise<unknown>)[] = [
  extendPartitions,
  pruneLogs,
  pruneNumbers,
  pruneCallbacks,
  pruneFailedJobs,
  pruneNotifications,
  resealSecrets,
];

export const maintainTables = job({
  name: 'maintain-tables',
  queue: 'maintenance',
  attempts: 8,
  backoffMs: 5000,
  // The equations of many years may be read for an hour.
  timeoutMs: 2 * 3_600_000,
  // YYYY-MM-DD; the work is queued once a day.
  payload: Joi.object<{ day: string }, true>({ day: Joi.string().required() }),
  key: ({ day }) => day,
  async run({ day }, signal) {
    for (const step of steps) {
      signal.throwIfAborted();
      await step();
    }
    const pruned = { sessions: await pruneSessions(), keys: await pruneIdempotencyKeys() };
    signal.throwIfAborted();
    await reportContradictions(day);
    return pruned;
  },
});

const maxNamed = 10;

/** Notifies every administrator, once a day, which refunds or balances do not add up. */
async function reportContradictions(day: string): Promise<void> {
  const names = (await checkEquations()).flatMap(({ first }) => first);
  if (names.length === 0) return;
  const look = {
    zh: '退款或余额与明细不符，请运行 back-office verify 查看',
    en: 'refunds or balances are not the sum of their parts; back-office verify shows which',
  };
  await sendNotification({
    type: 'system',
    title: { zh: '账目不一致', en: 'The books do not add up' },
    content: `${inBoth(look)}: ${names.slice(0, maxNamed).join(', ')}`,
    eventKey: `books-${day}`,
  });
}
