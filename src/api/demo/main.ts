// `npm run demo -- --fill`: half a year of plausible data (or `--days`), created by the service's own models with the clock set back. Days that
// have orders are skipped, so a second run adds the days since.
import { config } from '../../../config/index.js';
import { setClock } from '../../lib/clock.js';
import { closeDatabase, select } from '../../lib/database/db.js';
import { closePubsub } from '../../lib/redis/pubsub.js';
import { closeQueues } from '../../lib/queue/queue.js';
import { connectRedis, disconnectRedis } from '../../lib/redis/redis.js';
import { closeLogs } from '../../jobs/log-keeping.js';
import { Admin } from '../../models/access/tables.js';
import { assertMigrated } from '../../models/migrations/schema.js';
import { chanceOf } from './chance.js';
import { fillCustomers, fillOffice, type Person } from './people.js';
import { fillBalances, fillFiles, fillLogs, fillNotification, fillWords } from './traces.js';
import { fillMethods, fillTrade } from './trade.js';

const dayMs = 86_400_000;
const position = process.argv.indexOf('--days');
const days = position > 0 ? Number(process.argv[position + 1]) : 182;

if (config.app.production) {
  process.stderr.write(
    'This makes people and orders up; it refuses to do so in production (NODE_ENV=production).\n',
  );
  process.exit(1);
}

await connectRedis();
await assertMigrated();
try {
  const made = await fill();
  process.stdout.write(
    `${made} days filled${made <= days ? `, ${days + 1 - made} had orders already` : ''}\n`,
  );
} finally {
  setClock();
  await Promise.allSettled([closeLogs(), closeQueues()]);
  closePubsub();
  await closeDatabase();
  disconnectRedis();
}

async function fill(): Promise<number> {
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const first = await Admin.findOne({ where: { username: 'admin' }, attributes: ['id', 'username'] });
  const owner = first ?? { id: 1, username: 'admin' };
  const holder = {
    adminId: owner.id,
    isSuperAdmin: true,
    permissionIds: new Set<number>(),
    menuIds: new Set<number>(),
  };
  setClock(new Date(today - days * dayMs));
  const staff = await fillOffice(holder);
  const buyers = await fillCustomers();
  const methods = await fillMethods();
  await fillWords();
  const known = await daysWithOrders(buyers);
  let made = 0;
  for (let back = days; back >= 0; back--) {
    const start = new Date(today - back * dayMs);
    const name = start.toISOString().slice(0, 10);
    if (known.has(name)) continue;
    setClock(start);
    const chance = chanceOf(Math.floor(start.getTime() / dayMs));
    if (name.endsWith('-01')) await fillNotification(name.slice(0, 7));
    await fillLogs(start, staff, chance);
    await fillBalances(name, buyers, staff, chance);
    // The business grows, with fewer orders at weekends.
    const growth = 4 + ((days - back) / days) * 8;
    const orders = Math.round(
      growth * ([0, 6].includes(start.getUTCDay()) ? 0.7 : 1) * (0.8 + chance.next() * 0.4),
    );
    await fillTrade({ start, end: new Date(), chance, orders, buyers, methods });
    made += 1;
  }
  setClock();
  await fillFiles(owner);
  return made;
}

async function daysWithOrders(buyers: readonly Person[]): Promise<Set<string>> {
  const rows = await select<{ day: string }>(
    `SELECT DISTINCT DATE_FORMAT(created_at, '%Y-%m-%d') AS day FROM orders WHERE user_id IN (?)`,
    [buyers.map(({ id }) => id)],
  );
  return new Set(rows.map(({ day }) => day));
}
