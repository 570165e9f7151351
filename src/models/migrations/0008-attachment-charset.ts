// Texts among the attachments say how they are encoded, so that a browser shows them right.
import { errno } from '../../lib/db.js';
import type { Migration, RunSql } from './migration.js';

const column = 'charset VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NULL';

/** The column is there already, or gone: a run before was interrupted behind the statement. */
const isDone = new Set([1060, 1091]);

async function alter(run: RunSql, change: string): Promise<void> {
  try {
    await run(`ALTER TABLE attachments ${change}`);
  } catch (error) {
    if (!isDone.has(errno(error) ?? 0)) throw error;
  }
}

export const attachmentCharset: Migration = {
  name: '0008-attachment-charset',
  async up(run) {
    await alter(run, `ADD COLUMN ${column} AFTER mime_type`);
    // Until now they were shown as UTF-8.
    await run("UPDATE attachments SET charset = 'utf-8' WHERE charset IS NULL AND mime_type LIKE 'text/%'");
  },
  down: (run) => alter(run, 'DROP COLUMN charset'),
};
