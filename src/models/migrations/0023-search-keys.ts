// What the search finds users by.
import { passDone, type Migration } from './migration.js';

const columns = ['nickname', 'phone', 'email'];

export const searchKeys: Migration = {
  name: '0023-search-keys',
  async up(run) {
    const keys = columns.map((column) => `ADD KEY ix_users_${column} (${column})`);
    await run(`ALTER TABLE users ${keys.join(', ')}`).catch(passDone);
  },
  async down(run) {
    const keys = columns.map((column) => `DROP KEY ix_users_${column}`);
    await run(`ALTER TABLE users ${keys.join(', ')}`).catch(passDone);
  },
};
