// back-office migrate …: migrations as a separate step before a release.
import type { Command } from 'commander';
import { migrationState, prepareDatabase } from '../../models/migrations/schema.js';
import { seed } from '../../models/access/seed.js';
import { syncPermissions } from '../declare/permission.js';
import { does, table, type Outcome } from './command.js';

export const add = {
  migrate(migrate: Command): void {
    does(migrate.command('up').description('applies pending migrations'), up, { anySchema: true });
    does(
      migrate
        .command('status')
        .description('applied and pending migrations; exit code 1 when some are pending'),
      status,
      { anySchema: true },
    );
  },
};

async function up(): Promise<Outcome> {
  const before = await migrationState();
  // Loads the whole API, which no other command needs.
  const { routes } = await import('../routes.js');
  await prepareDatabase(async () => {
    await seed();
    await syncPermissions(routes);
  });
  const { applied } = await migrationState();
  const added = applied.filter((name) => !before.applied.includes(name));
  const what = added.length > 0 ? `applied ${added.join(', ')}` : 'nothing to do';
  return { data: { added }, text: `the database schema is up to date; ${what}` };
}

async function status(): Promise<Outcome> {
  const { applied, pending, unknown } = await migrationState();
  const rows = [
    ...applied.map((migration) => ({ migration, state: 'applied' })),
    ...pending.map((migration) => ({ migration, state: 'pending' })),
    ...unknown.map((migration) => ({ migration, state: 'applied by another release' })),
  ];
  return { data: { applied, pending, unknown }, text: table(rows, 'nothing'), isBad: pending.length > 0 };
}
