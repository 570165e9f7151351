// Exported files.
import type { CreationOptional, NonAttribute } from 'sequelize';
import { BelongsTo, Model } from 'sequelize-typescript';
import { db } from '../../lib/database/db.js';
import type { ErrorSlug } from '../../lib/errors/catalogue.js';
import type { Language } from '../../lib/values/language.js';
import { Admin } from '../access/tables.js';
import {
  ascii,
  big,
  code,
  id,
  instant,
  longText,
  percentage,
  text,
  tiny,
  type Unlisted,
} from '../tables/column.js';
import { Column, Table, type NewRow, type Row } from '../tables/table.js';

export const exportTypes = ['admins', 'users', 'orders', 'payments', 'refunds', 'user_balance_logs'] as const;

export type ExportType = (typeof exportTypes)[number];

export const exportFormats = ['csv', 'xlsx'] as const;

export type ExportFormat = (typeof exportFormats)[number];

/** 0 waiting or running, 1 success, 2 failed. */
export type ExportStatus = 0 | 1 | 2;

@Table('exports', { uq_exports_running: ['running_key'] })
export class Export extends Model<Row<Export>, NewRow<Export>> {
  @Column(id()) declare id: CreationOptional<number>;
  @Column(big()) declare admin_id: number;
  @Column(ascii(20, exportTypes)) declare type: ExportType;
  @Column(ascii(4, exportFormats)) declare format: ExportFormat;
  /** JSON of the filters. */
  @Column(longText().internal()) declare filter: Unlisted<string>;
  @Column(ascii<Language>(5).internal()) declare language: Unlisted<Language>;
  /** IANA zone of the times in the file; UTC when there is none. */
  @Column(ascii(64).nullable().internal()) declare zone: Unlisted<string | null>;
  /** Set while it waits or runs, so that the same request is not worked on twice. */
  @Column(code(64).nullable().internal()) declare running_key: Unlisted<string | null>;
  @Column(tiny(0, 1, 2).default(0)) declare status: CreationOptional<ExportStatus>;
  /** Percent. */
  @Column(percentage().default(0)) declare progress: CreationOptional<number>;
  /** Records of the list; an order is one, however many lines the file has for it. */
  @Column(big().default(0)) declare processed_rows: CreationOptional<number>;
  @Column(big().nullable()) declare total_rows: number | null;
  @Column(text(255)) declare filename: string;
  /** The file; while the export runs, the one that the latest run writes. */
  @Column(ascii(100).nullable().internal()) declare storage_key: Unlisted<string | null>;
  /** Bytes. */
  @Column(big().nullable()) declare size: number | null;
  @Column(ascii<ErrorSlug>(50).nullable().internal()) declare error: Unlisted<ErrorSlug | null>;
  @Column(instant()) declare created_at: CreationOptional<Date>;
  @Column(instant().internal()) declare updated_at: Unlisted<CreationOptional<Date>>;
  @Column(instant().nullable()) declare finished_at: Date | null;
  /** Read by releases without `notifications.undelivered_since` only. */
  @Column(instant().nullable().internal()) declare notified_at: Unlisted<Date | null>;
  @Column(instant().nullable()) declare expires_at: Date | null;
  @BelongsTo(() => Admin, 'admin_id') declare admin?: NonAttribute<Admin | null>;
}

db.addModels([Export]);
