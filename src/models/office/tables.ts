// The tables of this room: dictionaries, the IP blacklist, notifications, failed jobs.
import type { CreationOptional } from 'sequelize';
import { Model, Scopes } from 'sequelize-typescript';
import { db } from '../../lib/database/db.js';
import { queueNames, type QueueName } from '../../lib/queue/names.js';
import {
  ascii,
  big,
  bytes,
  id,
  instant,
  integer,
  json,
  longText,
  text,
  tiny,
  unsigned,
  type Unlisted,
} from '../tables/column.js';
import { inUse } from '../tables/find.js';
import { Column, Table, type NewRow, type Row } from '../tables/table.js';

/** Types (parent 0) and their entries. */
@Scopes(() => ({ withUse: inUse('dictionaries c WHERE c.parent_id = Dictionary.id') }))
@Table('dictionaries', { uq_dictionaries_code: ['parent_id', 'code'] })
export class Dictionary extends Model<Row<Dictionary>, NewRow<Dictionary>> {
  @Column(id()) declare id: CreationOptional<number>;
  @Column(big().default(0)) declare parent_id: CreationOptional<number>;
  @Column(text(50)) declare name: string;
  @Column(text(50)) declare code: string;
  @Column(text(500).nullable()) declare value: string | null;
  @Column(text(255).nullable()) declare description: string | null;
  @Column(tiny().default(1)) declare status: CreationOptional<number>;
  @Column(integer().default(0)) declare sort: CreationOptional<number>;
  @Column(instant()) declare created_at: CreationOptional<Date>;
  @Column(instant()) declare updated_at: CreationOptional<Date>;
}

/** Addresses that are turned away. */
@Table('blacklists', { uq_blacklists_range: ['first_ip', 'last_ip'] })
export class Blacklist extends Model<Row<Blacklist>, NewRow<Blacklist>> {
  @Column(id()) declare id: CreationOptional<number>;
  /** As it is shown: an address, a range or a network. */
  @Column(ascii(100)) declare ip: string;
  /** 16 bytes of IPv6; IPv4 is mapped into ::ffff:0:0/96. */
  @Column(bytes(16).internal()) declare first_ip: Unlisted<Buffer>;
  @Column(bytes(16).internal()) declare last_ip: Unlisted<Buffer>;
  @Column(text(255).nullable()) declare remark: string | null;
  @Column(tiny().default(1)) declare status: CreationOptional<number>;
  @Column(instant()) declare created_at: CreationOptional<Date>;
  @Column(instant()) declare updated_at: CreationOptional<Date>;
}

/** What administrators send. */
export const sentTypes = ['announcement', 'message'] as const;

/** `system` comes from the service itself only. */
export const notificationTypes = [...sentTypes, 'system'] as const;

export type NotificationType = (typeof notificationTypes)[number];

/** Messages to one administrator or, without a receiver, to all. */
@Table('notifications', { uq_notifications_event: ['event_key'] })
export class Notification extends Model<Row<Notification>, NewRow<Notification>> {
  @Column(id()) declare id: CreationOptional<number>;
  @Column(ascii(20, notificationTypes)) declare type: NotificationType;
  @Column(text(150)) declare title: string;
  @Column(longText()) declare content: string;
  @Column(big().nullable()) declare sender_id: number | null;
  @Column(big().nullable()) declare receiver_id: number | null;
  /** The event it reports; there is one notification of it. */
  @Column(ascii(100).nullable().internal()) declare event_key: Unlisted<string | null>;
  @Column(instant()) declare created_at: Date;
  /** Set until its frames are sent. */
  @Column(instant().nullable().internal()) declare undelivered_since: Unlisted<Date | null>;
}

@Table('notification_reads')
export class NotificationRead extends Model<Row<NotificationRead>, NewRow<NotificationRead>> {
  @Column(big().primary()) declare admin_id: number;
  @Column(big().primary()) declare notification_id: number;
  @Column(instant()) declare read_at: Date;
}

/** Everything up to that instant counts as read. */
@Table('notification_marks')
export class NotificationMark extends Model<Row<NotificationMark>, NewRow<NotificationMark>> {
  @Column(big().primary()) declare admin_id: number;
  @Column(instant()) declare read_until: Date;
  /** Read by the release before; dropped with the next one. */
  @Column(unsigned().default(0).internal()) declare read_above: Unlisted<CreationOptional<number>>;
}

/** failed: waits for a person; retried: queued again; done: it has succeeded since. */
export const failedJobStates = ['failed', 'retried', 'done'] as const;

export type FailedJobState = (typeof failedJobStates)[number];

/** Work whose last run has failed, one row however often it fails. */
@Table('failed_jobs', { uq_failed_jobs_key: ['job_key'] })
export class FailedJob extends Model<Row<FailedJob>, NewRow<FailedJob>> {
  @Column(id()) declare id: CreationOptional<number>;
  @Column(ascii(30, queueNames)) declare queue: QueueName;
  @Column(text(60)) declare job: string;
  /** Names the work, whichever of its jobs failed. */
  @Column(ascii(255)) declare job_key: string;
  @Column(json().internal()) declare payload: Unlisted<unknown>;
  @Column(text(2000)) declare error: string;
  /** Runs of the job that was last abandoned. */
  @Column(unsigned()) declare attempts: number;
  /** How often it was abandoned. */
  @Column(unsigned().default(1)) declare failures: CreationOptional<number>;
  @Column(text(64)) declare trace_id: string;
  @Column(ascii(10, failedJobStates)) declare state: FailedJobState;
  @Column(instant()) declare failed_at: Date;
  @Column(instant().nullable()) declare retried_at: Date | null;
  @Column(instant()) declare created_at: CreationOptional<Date>;
  @Column(instant()) declare updated_at: CreationOptional<Date>;
}

db.addModels([Dictionary, Blacklist, Notification, NotificationRead, NotificationMark, FailedJob]);
