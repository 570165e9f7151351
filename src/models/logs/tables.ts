// The tables of this room: the three logs.
import type { CreationOptional } from 'sequelize';
import { Model } from 'sequelize-typescript';
import { db } from '../../lib/database/db.js';
import {
  ascii,
  big,
  code,
  cutJson,
  id,
  instant,
  json,
  small,
  text,
  tiny,
  unsigned,
  type Unlisted,
} from '../tables/column.js';
import { Column, Table, type NewRow, type Row } from '../tables/table.js';

/** A field that an update or a delete changed. */
export interface FieldChange {
  field: string;
  old: unknown;
  new: unknown;
}

/** What signed-in administrators did, also what was refused. */
@Table('operation_logs', { uq_operation_logs_key: ['log_key', 'period'] })
export class OperationLog extends Model<Row<OperationLog>, NewRow<OperationLog>> {
  @Column(id()) declare id: CreationOptional<number>;
  @Column(unsigned().primary().internal()) declare period: Unlisted<number>;
  /** ULID; an entry written twice stays one row. */
  @Column(code(26).internal()) declare log_key: Unlisted<string>;
  @Column(big()) declare admin_id: number;
  @Column(text(50)) declare username: string;
  @Column(text(50)) declare module: string;
  @Column(text(50)) declare action: string;
  @Column(text(100)) declare title: string;
  @Column(text(10)) declare method: string;
  @Column(text(500)) declare path: string;
  @Column(text(45)) declare ip: string;
  @Column(text(500)) declare user_agent: string;
  /** Query and body, masked. */
  @Column(json().nullable()) declare request: unknown;
  @Column(small()) declare status: number;
  @Column(unsigned()) declare duration_ms: number;
  @Column(json<FieldChange[]>().nullable()) declare changes: FieldChange[] | null;
  @Column(ascii(64)) declare trace_id: string;
  @Column(instant()) declare created_at: Date;
  /** Number or id of the record it changed or made. */
  @Column(ascii(64).nullable()) declare record_key: string | null;
}

/** Every attempt to sign in. */
@Table('login_logs', { uq_login_logs_key: ['log_key', 'period'] })
export class LoginLog extends Model<Row<LoginLog>, NewRow<LoginLog>> {
  @Column(id()) declare id: CreationOptional<number>;
  @Column(unsigned().primary().internal()) declare period: Unlisted<number>;
  @Column(code(26).internal()) declare log_key: Unlisted<string>;
  @Column(big().nullable()) declare admin_id: number | null;
  @Column(text(50)) declare username: string;
  @Column(text(45)) declare ip: string;
  @Column(text(500)) declare user_agent: string;
  @Column(text(50)) declare browser: string;
  @Column(text(50)) declare os: string;
  /** desktop, mobile, tablet or other. */
  @Column(ascii(10).internal()) declare device: Unlisted<string>;
  /** 0 failure, 1 success. */
  @Column(tiny()) declare status: number;
  /** Error slug, or login_success. */
  @Column(ascii(50).internal()) declare outcome: Unlisted<string>;
  @Column(instant()) declare created_at: Date;
}

export const logLevels = ['error', 'warning', 'info', 'debug'] as const;

type LogLevel = (typeof logLevels)[number];

/** Warnings and errors of API and worker. */
@Table('system_logs', { uq_system_logs_key: ['log_key', 'period'] })
export class SystemLog extends Model<Row<SystemLog>, NewRow<SystemLog>> {
  @Column(id()) declare id: CreationOptional<number>;
  @Column(unsigned().primary().internal()) declare period: Unlisted<number>;
  @Column(code(26).internal()) declare log_key: Unlisted<string>;
  @Column(ascii(10, logLevels)) declare level: LogLevel;
  /** The process it comes from: api or worker. */
  @Column(text(50)) declare module: string;
  @Column(text(1000)) declare message: string;
  /** JSON of the line's fields, masked; it may be cut. */
  @Column(cutJson('mediumtext').nullable()) declare context: unknown;
  @Column(ascii(64)) declare trace_id: string;
  @Column(instant()) declare created_at: Date;
}

db.addModels([OperationLog, LoginLog, SystemLog]);
