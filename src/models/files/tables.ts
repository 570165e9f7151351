// The tables of this room: stored files, attachments, and uploads on their way.
import type { CreationOptional, NonAttribute } from 'sequelize';
import { BelongsTo, Model } from 'sequelize-typescript';
import { db } from '../../lib/database/db.js';
import type { ErrorSlug } from '../../lib/errors/catalogue.js';
import type { Charset } from '../../lib/files/file-content.js';
import { fileTypes, type FileType } from '../../lib/files/file-kinds.js';
import { Admin } from '../access/tables.js';
import { ascii, big, code, flag, id, instant, text, unsigned, type Unlisted } from '../tables/column.js';
import { Column, Table, type NewRow, type Row } from '../tables/table.js';

/** Every file of the storage, as a row before it is written and until it is removed. */
@Table('stored_files')
export class StoredFile extends Model<Row<StoredFile>, NewRow<StoredFile>> {
  @Column(ascii(100).primary()) declare storage_key: string;
  @Column(ascii(10, ['reserved', 'kept', 'released'])) declare state: 'reserved' | 'kept' | 'released';
  @Column(instant()) declare created_at: CreationOptional<Date>;
  @Column(instant()) declare updated_at: CreationOptional<Date>;
}

/** Files that administrators keep. */
@Table('attachments', { uq_attachments_key: ['storage_key'] })
export class Attachment extends Model<Row<Attachment>, NewRow<Attachment>> {
  @Column(id()) declare id: CreationOptional<number>;
  @Column(big()) declare admin_id: number;
  @Column(ascii(100).internal()) declare storage_key: Unlisted<string>;
  @Column(text(255)) declare filename: string;
  @Column(text(255)) declare display_name: string;
  @Column(ascii(16)) declare extension: string;
  @Column(ascii(100)) declare mime_type: string;
  /** How a text is encoded. */
  @Column(ascii<Charset>(10).nullable().internal()) declare charset: Unlisted<Charset | null>;
  @Column(ascii(10, fileTypes)) declare type: FileType;
  /** Bytes. */
  @Column(big()) declare size: number;
  @Column(code(64)) declare sha256: string;
  @Column(instant()) declare created_at: CreationOptional<Date>;
  @Column(instant()) declare updated_at: CreationOptional<Date>;
  @BelongsTo(() => Admin, 'admin_id') declare admin?: NonAttribute<Admin | null>;
}

const chunkStatuses = ['uploading', 'merging', 'completed', 'failed'] as const;

type ChunkStatus = (typeof chunkStatuses)[number];

/** An upload that arrives in pieces; its id is unique among those of its administrator. */
@Table('chunk_sessions')
export class ChunkUpload extends Model<Row<ChunkUpload>, NewRow<ChunkUpload>> {
  @Column(big().primary().internal()) declare admin_id: Unlisted<number>;
  @Column(ascii(64).primary()) declare chunk_id: string;
  @Column(text(255)) declare filename: string;
  /** Bytes, when they were announced. */
  @Column(big().nullable().internal()) declare total_size: Unlisted<number | null>;
  /** Bytes of every chunk but the last, when they were announced. */
  @Column(big().nullable().internal()) declare chunk_size: Unlisted<number | null>;
  @Column(unsigned()) declare total_chunks: number;
  @Column(code(64).nullable().internal()) declare sha256: Unlisted<string | null>;
  @Column(unsigned().default(0).internal()) declare received_chunks: Unlisted<CreationOptional<number>>;
  @Column(big().default(0).internal()) declare received_bytes: Unlisted<CreationOptional<number>>;
  @Column(ascii(10, chunkStatuses).default('uploading')) declare status: CreationOptional<ChunkStatus>;
  @Column(ascii<ErrorSlug>(50).nullable()) declare error: ErrorSlug | null;
  @Column(big().nullable()) declare attachment_id: number | null;
  /** Its owner wants a notification: the request no longer waits. */
  @Column(flag().default(false).internal()) declare to_be_told: Unlisted<CreationOptional<boolean>>;
  @Column(instant().internal()) declare created_at: Unlisted<CreationOptional<Date>>;
  @Column(instant().internal()) declare updated_at: Unlisted<CreationOptional<Date>>;
  @Column(instant()) declare expires_at: Date;
}

/** The pieces that have arrived. */
@Table('chunks')
export class Chunk extends Model<Row<Chunk>, NewRow<Chunk>> {
  @Column(big().primary()) declare admin_id: number;
  @Column(ascii(64).primary()) declare chunk_id: string;
  @Column(unsigned().primary()) declare chunk_index: number;
  @Column(big()) declare size: number;
  @Column(ascii(100)) declare storage_key: string;
}

db.addModels([StoredFile, Attachment, ChunkUpload, Chunk]);
