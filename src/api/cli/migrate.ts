// back-office migrate …: migrations as a separate step before a release.
import type { Command } from 'commander';
import { isDatabaseDown } from '../../lib/database/errors.js';
import { StartRefused } from '../../lib/process/start-refused.js';
import { migrationState, prepareDatabase } from '../../models/migrations/schema.js';
import { seed } from '../../models/access/seed.js';
import { syncPermissions } from '../declare/permission-sync.js';
import { does, table, type Outcome } from './command.js';

export function addMigrateCommands(program: Command): void {
  const migrate = program.command('migrate').description('the shape of the database: up, status');
  does(migrate.command('up').description('brings it to that of this release'), up, { anySchema: true });
  does(
    migrate
      .command('status')
      .description('what was made, and what is to be made; exit code 1 when something is'),
    status,
    { anySchema: true },
  );
}

async function up(): Promise<Outcome> {
  const before = await migrationState();
  // Loads the whole API, which no other command needs.
  const { routes } = await import('../routes.js');
  await prepareDatabase(async () => {
    await seed();
    await syncPermissions(routes);
  }).catch(failNamingMigration);
  const { made } = await migrationState();
  const added = made.filter((name) => !before.made.includes(name));
  const what = added.length > 0 ? `made ${added.join(', ')}` : 'nothing was to be made';
  return { data: { added }, text: `the database has the shape of this release; ${what}` };
}

async function failNamingMigration(error: unknown): Promise<never> {
  const { pending } = await migrationState().catch(() => ({ pending: [] }));
  const [first] = pending;
  if (first === undefined || error instanceof StartRefused || isDatabaseDown(error)) throw error;
  throw new Error(`${first} could not be made: ${(error as Error).message}`);
}

async function status(): Promise<Outcome> {
  const { made, pending, unknown } = await migrationState();
  const rows = [
    ...made.map((migration) => ({ migration, state: 'made' })),
    ...pending.map((migration) => ({ migration, state: 'pending' })),
    ...unknown.map((migration) => ({ migration, state: 'made by another release' })),
  ];
  return { data: { made, pending, unknown }, text: table(rows, 'nothing'), isBad: pending.length > 0 };
}
