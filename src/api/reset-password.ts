// npm run reset-password -- <username>: gives an administrator a new password, prints it and ends their sessions.
import { closeDatabase, select } from '../lib/db.js';
import { start } from '../lib/lifecycle.js';
import { randomToken } from '../lib/random-id.js';
import { disconnectRedis } from '../lib/redis.js';
import { storePassword } from '../models/access/admin.js';
import { prepareDatabase } from '../models/migrations/schema.js';

await start(async () => {
  const [, , username] = process.argv;
  if (!username) throw new Error('name an administrator: npm run reset-password -- admin');
  // Without the seed, which refuses the password that is to be replaced.
  await prepareDatabase(() => Promise.resolve());
  const [admin] = await select<{ id: number }>('SELECT id FROM admins WHERE username = ?', [username]);
  if (!admin) throw new Error(`there is no administrator "${username}"`);
  const password = randomToken(16);
  await storePassword(admin.id, password, { mustChange: true });
  // Not through the log, which hides what looks like a secret.
  process.stdout.write(`The password of "${username}" is now ${password}\n`);
  await closeDatabase();
  disconnectRedis();
});
