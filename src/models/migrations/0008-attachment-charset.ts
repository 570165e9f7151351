// Texts among the attachments say how they are encoded, so that a browser shows them right.
import { passDone, type Migration } from './migration.js';

const column = 'charset VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NULL';

export const attachmentCharset: Migration = {
  name: '0008-attachment-charset',
  async up(run) {
    await run(`ALTER TABLE attachments ADD COLUMN ${column} AFTER mime_type`).catch(passDone);
    // Until now they were shown as UTF-8.
    await run("UPDATE attachments SET charset = 'utf-8' WHERE charset IS NULL AND mime_type LIKE 'text/%'");
  },
  down: (run) => run('ALTER TABLE attachments DROP COLUMN charset').catch(passDone),
};
