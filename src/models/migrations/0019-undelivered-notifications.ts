// Notifications are the outbox of their frames: `undelivered_since` is set until those are sent. Rows of earlier releases, which
// send them by themselves, have none.
import { passDone, type Migration } from './migration.js';

export const undeliveredNotifications: Migration = {
  name: '0019-undelivered-notifications',
  async up(run) {
    await run('ALTER TABLE notifications ADD COLUMN undelivered_since DATETIME(3) NULL').catch(passDone);
    await run('ALTER TABLE notifications ADD KEY ix_notifications_undelivered (undelivered_since)').catch(
      passDone,
    );
  },
  async down(run) {
    await run('ALTER TABLE notifications DROP KEY ix_notifications_undelivered').catch(passDone);
    await run('ALTER TABLE notifications DROP COLUMN undelivered_since').catch(passDone);
  },
};
