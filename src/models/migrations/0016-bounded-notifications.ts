// Notifications that are counted and paged through by keys alone, and that leave after NOTIFICATION_RETENTION_DAYS.
import { passDone, type Migration } from './migration.js';

export const boundedNotifications: Migration = {
  name: '0016-bounded-notifications',
  async up(run) {
    await run(
      `ALTER TABLE notifications ADD KEY ix_notifications_of (receiver_id, id),
         ADD KEY ix_notifications_of_type (receiver_id, type, id), ADD KEY ix_notifications_made (created_at)`,
    ).catch(passDone);
    await run('ALTER TABLE notification_reads ADD KEY ix_notification_reads_of (notification_id)').catch(
      passDone,
    );
    // How many notifications newer than read_until were read one by one.
    await run('ALTER TABLE notification_marks ADD COLUMN read_above INT UNSIGNED NOT NULL DEFAULT 0').catch(
      passDone,
    );
    await run(
      `INSERT IGNORE INTO notification_marks (admin_id, read_until)
       SELECT DISTINCT admin_id, '1970-01-01 00:00:00' FROM notification_reads`,
    );
    await run(
      `UPDATE notification_marks m SET m.read_above = (SELECT COUNT(*) FROM notification_reads r
         JOIN notifications n ON n.id = r.notification_id WHERE r.admin_id = m.admin_id AND n.created_at > m.read_until)`,
    );
  },
  async down(run) {
    await run('ALTER TABLE notification_marks DROP COLUMN read_above').catch(passDone);
    await run('ALTER TABLE notification_reads DROP KEY ix_notification_reads_of').catch(passDone);
    await run(
      'ALTER TABLE notifications DROP KEY ix_notifications_made, DROP KEY ix_notifications_of_type, DROP KEY ix_notifications_of',
    ).catch(passDone);
  },
};
