// The tables of this room: files that rows were imported from, and the rows that were refused.
import type { CreationOptional, NonAttribute } from 'sequelize';
import { BelongsTo, Model } from 'sequelize-typescript';
import { db } from '../../lib/database/db.js';
import type { ErrorSlug } from '../../lib/errors/catalogue.js';
import type { Language } from '../../lib/values/language.js';
import type { CsvFormat } from '../../lib/sheets/csv-source.js';
import { Admin } from '../access/tables.js';
import { StoredFile } from '../files/tables.js';
import {
  ascii,
  big,
  flag,
  id,
  instant,
  percentage,
  small,
  text,
  tiny,
  type Unlisted,
} from '../tables/column.js';
import { Column, Table, type NewRow, type Row } from '../tables/table.js';
import type { ImportReason } from './import-reason.js';
import type { SheetColumn } from './order-sheet.js';

export const importTypes = ['orders'] as const;

export type ImportType = (typeof importTypes)[number];

/** 0 waiting or running, 1 ended, whether or not rows were refused, 2 failed or cancelled. */
export const importStatuses = [0, 1, 2] as const;

export type ImportStatus = (typeof importStatuses)[number];

@Table('imports')
export class Import extends Model<Row<Import>, NewRow<Import>> {
  @Column(id()) declare id: CreationOptional<number>;
  @Column(big()) declare admin_id: number;
  @Column(ascii(20, importTypes)) declare type: ImportType;
  @Column(text(255)) declare filename: string;
  /** Bytes. */
  @Column(big()) declare size: number;
  @Column(ascii(100).nullable().internal()) declare storage_key: Unlisted<string | null>;
  @Column(ascii<CsvFormat['encoding']>(10).internal()) declare encoding: Unlisted<CsvFormat['encoding']>;
  @Column(ascii<CsvFormat['delimiter']>(1).internal()) declare delimiter: Unlisted<CsvFormat['delimiter']>;
  /** Everything is checked and counted, nothing is imported. */
  @Column(flag().default(false)) declare dry_run: CreationOptional<boolean>;
  @Column(ascii<Language>(5).internal()) declare language: Unlisted<Language>;
  @Column(tiny(...importStatuses).default(0)) declare status: CreationOptional<ImportStatus>;
  /** Percent. */
  @Column(percentage().default(0)) declare progress: CreationOptional<number>;
  /** Rows of the file that are done; it advances in the transaction of their batch. */
  @Column(big().default(0).internal()) declare position: Unlisted<CreationOptional<number>>;
  /** Null until the rows are counted. */
  @Column(big().nullable()) declare total_rows: number | null;
  @Column(big().default(0)) declare success_count: CreationOptional<number>;
  @Column(big().default(0)) declare failed_count: CreationOptional<number>;
  @Column(big().default(0)) declare order_count: CreationOptional<number>;
  @Column(ascii<ErrorSlug>(50).nullable().internal()) declare error: Unlisted<ErrorSlug | null>;
  @Column(big().nullable().internal()) declare error_row: Unlisted<number | null>;
  /** It has ended; for releases that did so before what follows from the end. */
  @Column(flag().default(false).internal()) declare concluded: Unlisted<CreationOptional<boolean>>;
  @Column(instant()) declare created_at: CreationOptional<Date>;
  @Column(instant().internal()) declare updated_at: Unlisted<CreationOptional<Date>>;
  @Column(instant().nullable()) declare finished_at: Date | null;
  /** The failed rows go then, and the record as well when it was deleted. */
  @Column(instant().nullable().internal()) declare expires_at: Unlisted<Date | null>;
  @Column(instant().nullable().internal()) declare deleted_at: Unlisted<Date | null>;
  @BelongsTo(() => Admin, 'admin_id') declare admin?: NonAttribute<Admin | null>;
  @BelongsTo(() => StoredFile, { foreignKey: 'storage_key', targetKey: 'storage_key' })
  declare file?: NonAttribute<StoredFile | null>;
}

/** The problems of rows that were refused. */
@Table('import_errors')
export class ImportProblem extends Model<Row<ImportProblem>, NewRow<ImportProblem>> {
  @Column(big().primary()) declare import_id: number;
  /** As a spreadsheet shows it, the header being row 1. */
  @Column(big().primary()) declare row_no: number;
  @Column(small().primary()) declare place: number;
  /** Empty when it is about the row as a whole. */
  @Column(ascii<SheetColumn | ''>(20)) declare field: SheetColumn | '';
  @Column(text(200)) declare value: string;
  @Column(ascii<ImportReason>(30)) declare reason: ImportReason;
  @Column(ascii(30)) declare detail: string;
}

db.addModels([Import, ImportProblem]);
