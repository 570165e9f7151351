// Lists are counted where their rows are: the journals of changed orders and payments go.
import { journals } from './0010-exact-lists.js';
import type { Migration } from './migration.js';

export const plainLists: Migration = {
  name: '0021-plain-lists',
  async up(run) {
    for (const table of ['order_changes', 'payment_changes']) await run(`DROP TABLE IF EXISTS ${table}`);
  },
  async down(run) {
    for (const table of journals) await run(table);
  },
};
