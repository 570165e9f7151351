// Which menus this database was given, so that a later release adds its own and none that was deleted comes back.
import type { Migration } from './migration.js';

/** The menus of the releases before: wherever there are menus, these were among them. */
const earlier = [
  'dashboard',
  'system',
  'admins',
  'roles',
  'menus',
  'permissions',
  'departments',
  'dictionaries',
  'blacklists',
  'online-admins',
  'attachments',
  'exports',
  'imports',
  'notifications',
  'monitor',
  'logs',
  'operation-logs',
  'login-logs',
  'system-logs',
  'customers',
  'users',
  'user-balance-logs',
  'trade',
  'orders',
  'payment',
  'payments',
  'payment-methods',
];

export const seededMenus: Migration = {
  name: '0014-seeded-menus',
  async up(run) {
    await run(
      `CREATE TABLE IF NOT EXISTS seeded_menus (
         slug VARCHAR(100) NOT NULL PRIMARY KEY,
         created_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3)
       )`,
    );
    const given = earlier.map((slug) => `SELECT '${slug}' AS slug`).join(' UNION ALL ');
    await run(
      `INSERT IGNORE INTO seeded_menus (slug)
       SELECT given.slug FROM (${given}) given WHERE EXISTS (SELECT 1 FROM menus)`,
    );
  },
  async down(run) {
    await run('DROP TABLE IF EXISTS seeded_menus');
  },
};
