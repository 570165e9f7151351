// Passwords that somebody else has set, and that their owner must change.
import { passDone, type Migration } from './migration.js';

export const passwordChange: Migration = {
  name: '0012-password-change',
  up: (run) =>
    run('ALTER TABLE admins ADD COLUMN password_must_change TINYINT NOT NULL DEFAULT 0').catch(passDone),
  down: (run) => run('ALTER TABLE admins DROP COLUMN password_must_change').catch(passDone),
};
