// npm run migrate: brings the database to this release's shape and ends; a step of its own before a reload.
import { closeDatabase } from '../lib/db.js';
import { logger } from '../lib/logger.js';
import { start } from '../lib/lifecycle.js';
import { disconnectRedis } from '../lib/redis.js';
import { prepareDatabase } from '../models/migrations/schema.js';
import { seed } from '../models/access/seed.js';
import { syncPermissions } from './declare/permission-sync.js';
import { routes } from './declare/routes.js';

await start(async () => {
  await prepareDatabase(async () => {
    await seed();
    await syncPermissions(routes);
  });
  await closeDatabase();
  disconnectRedis();
  logger.info('the database has the shape of this release');
});
