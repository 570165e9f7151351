// exports: files that administrators requested; the row is the state, the job write-export advances it.
import { createHash } from 'node:crypto';
import Joi from 'joi';
import { Op, type Transaction, type WhereOptions } from 'sequelize';
import { config } from '../../../config/index.js';
import { now } from '../../lib/values/clock.js';
import { currentLanguage } from '../../lib/process/context.js';
import { transact } from '../../lib/database/db.js';
import { isDuplicate } from '../../lib/database/errors.js';
import { AppError, fail } from '../../lib/errors/app-error.js';
import { say, type Language, type Text } from '../../lib/values/language.js';
import { listQuery, type Criteria, type ListQuery, type Page } from '../../lib/input/list-query.js';
import { localTimes } from '../../lib/values/time.js';
import type { Identity } from '../access/identity.js';
import { adminOf, withAdmin } from '../access/tables.js';
import { releaseFiles, removeFiles } from '../files/stored-file.js';
import { during, findPage, lockRow, matching } from '../tables/find.js';
import { listed, type Listed } from '../tables/table.js';
import {
  Export,
  exportFormats,
  exportTypes,
  type ExportFormat,
  type ExportStatus,
  type ExportType,
} from './tables.js';

/** What an administrator wants exported, and how. */
export interface ExportRequest {
  adminId: number;
  type: ExportType;
  format: ExportFormat;
  /** The filters of the list, checked. */
  criteria: object;
  language: Language;
  /** IANA zone of the times in the file; UTC when there is none. */
  zone: string | undefined;
}

/** An export in answers. */
export interface ExportRecord extends Listed<Export> {
  status_text: string;
  error_msg: string | null;
  admin: ReturnType<typeof adminOf>;
  filters: { name: string; value: string }[];
  file_url: string | null;
}

const exportFilters = {
  type: Joi.string<ExportType>().valid(...exportTypes),
  format: Joi.string<ExportFormat>().valid(...exportFormats),
  status: Joi.number<ExportStatus>().valid(0, 1, 2).description('0 waiting or running, 1 finished, 2 failed'),
};

type ExportFilter = Criteria<typeof exportFilters> & ListQuery;

/** The query of the list. */
export const exportQuery = listQuery<ExportFilter>(
  ['id', 'type', 'format', 'status', 'created_at', 'finished_at'],
  exportFilters,
);

/**
 * Stores a request. An equal request of the same administrator that still waits or runs is returned instead.
 *
 * @returns its id, and whether its job is to be queued
 * @throws too_many_exports
 */
export async function requestExport(request: ExportRequest): Promise<{ id: number; isNew: boolean }> {
  const filter = JSON.stringify(request.criteria);
  const { adminId, type, format, language, zone } = request;
  const same = JSON.stringify([adminId, type, format, filter, language, zone ?? null]);
  const runningKey = createHash('sha256').update(same).digest('hex');
  const at = now();
  await assertRoom(request, runningKey);
  try {
    // The closure returns the id: the Idempotency-Key is claimed for it.
    const id = await transact(async (t) => {
      const filename = filenameOf(request, at);
      const row = { admin_id: adminId, type, format, filter, language, zone: zone ?? null, filename };
      return (await Export.create({ ...row, running_key: runningKey }, { transaction: t })).id;
    });
    return { id, isNew: true };
  } catch (error) {
    if (!isDuplicate(error, 'uq_exports_running')) throw error;
  }
  // Within a transaction: the unit of the request claims its Idempotency-Key for the export that answers it.
  const running = await transact((t) =>
    Export.findOne({ where: { running_key: runningKey }, transaction: t }),
  );
  // The earlier one has just ended.
  return running ? { id: running.id, isNew: false } : requestExport(request);
}

// Requests at the same moment may pass together; the limit keeps queue and disk free, it guards no secret.
async function assertRoom({ adminId }: ExportRequest, runningKey: string): Promise<void> {
  const running = await Export.count({
    where: { admin_id: adminId, status: 0, running_key: { [Op.ne]: runningKey } },
  });
  if (running >= config.storage.exportsPerAdmin) fail('too_many_exports', { retryAfter: 10 });
}

function filenameOf({ type, format, zone }: ExportRequest, at: Date): string {
  const local = localTimes(zone)(at.toISOString().replace('T', ' '));
  return `${type}-${local.replace(/[-:]/g, '').replace(' ', '-')}.${format}`;
}

/** Exports of the caller; of everybody for a super administrator. */
export function listExports(viewer: Identity, query: ExportFilter): Promise<Page<ExportRecord>> {
  const { type, format, status } = query;
  const where = {
    ...matching<Export>({ type, format, status, created_at: during(query) }),
    ...visibleTo(viewer),
  };
  return findPage(Export, query, { where, include: withAdmin }, toRecord);
}

/** @throws export_not_found also for another administrator's export, or one of another type */
export async function getExport(
  viewer: Identity,
  id: number,
  { type, t: transaction }: { type?: ExportType; t?: Transaction } = {},
): Promise<ExportRecord> {
  await lockRow(Export, id, transaction);
  const where = { ...matching<Export>({ id, type }), ...visibleTo(viewer) };
  const found = await Export.findOne({ where, include: withAdmin, transaction });
  return toRecord(found ?? fail('export_not_found'));
}

/** The key of a finished file. @throws export_not_found, export_not_ready, export_failed, export_expired */
export async function exportFile(
  viewer: Identity,
  id: number,
): Promise<{ key: string; filename: string; size: number; format: ExportFormat; type: ExportType }> {
  const row = await Export.findOne({ where: { id, ...visibleTo(viewer) } });
  if (!row) fail('export_not_found');
  if (row.status === 2) fail('export_failed');
  if (row.status === 0) fail('export_not_ready');
  if (row.expires_at && row.expires_at <= now()) fail('export_expired');
  return {
    key: row.storage_key ?? fail('export_not_ready'),
    filename: row.filename,
    size: row.size ?? 0,
    format: row.format,
    type: row.type,
  };
}

/**
 * Removes exports with their files; a running one stops when it next saves its progress. Exports the viewer
 * may not see stay.
 *
 * @returns how many there were
 */
export async function deleteExports(viewer: Identity, ids: readonly number[]): Promise<number> {
  return removeWhere({ id: ids, ...visibleTo(viewer) });
}

const expiredAtOnce = 100;

/** Removes exports whose time is up, with their files. @returns whether some are left for the next time */
export async function removeExpiredExports(): Promise<boolean> {
  const expired = { expires_at: { [Op.lte]: now() } };
  const due = await Export.findAll({ attributes: ['id'], where: expired, limit: expiredAtOnce });
  if (due.length > 0) await removeWhere({ id: due.map(({ id }) => id), ...expired });
  return due.length === expiredAtOnce;
}

/** An export that was removed while it ran, as cancelled. */
export const asCancelled = (record: ExportRecord): ExportRecord => ({
  ...record,
  status: 2,
  status_text: say(statusTexts.failed, currentLanguage()),
  error_msg: new AppError('export_cancelled').text(currentLanguage()),
});

/** When a finished export is swept. */
export const expiryOf = (finishedAt: Date): Date =>
  new Date(finishedAt.getTime() + config.retention.exportMs);

async function removeWhere(where: WhereOptions<Export>): Promise<number> {
  const rows = await transact(async (t) => {
    const found = await Export.findAll({ where, transaction: t, lock: true });
    if (found.length === 0) return found;
    await Export.destroy({ where: { id: found.map(({ id }) => id) }, transaction: t });
    await releaseFiles(finishedFiles(found), t);
    return found;
  });
  await removeFiles(finishedFiles(rows));
  return rows.length;
}

// The file of a running export belongs to the job that writes it.
function finishedFiles(rows: Export[]): string[] {
  return rows.flatMap(({ status, storage_key }) =>
    status === 1 && storage_key !== null ? [storage_key] : [],
  );
}

// Ownership is part of the query.
const visibleTo = ({ adminId, isSuperAdmin }: Identity): { admin_id?: number } =>
  isSuperAdmin ? {} : { admin_id: adminId };

const statusTexts = {
  waiting: { zh: '等待中', en: 'Waiting' },
  running: { zh: '导出中', en: 'Running' },
  success: { zh: '成功', en: 'Finished' },
  failed: { zh: '失败', en: 'Failed' },
} satisfies Record<string, Text>;

// Without a time range its column filters nothing.
function filtersOf({ filter }: Export): ExportRecord['filters'] {
  const given = Object.entries(JSON.parse(filter) as object);
  const hasRange = given.some(([name]) => /^(start|end)_/.test(name));
  return given
    .filter(([name]) => hasRange || name !== 'time_field')
    .map(([name, value]) => ({ name, value: String(value) }));
}

function toRecord(row: Export): ExportRecord {
  const { id, storage_key, error } = row;
  const status: ExportStatus = row.status;
  const language = currentLanguage();
  const state = (['running', 'success', 'failed'] as const)[status];
  const shown = state === 'running' && storage_key === null ? 'waiting' : state;
  return {
    ...listed(row),
    status_text: say(statusTexts[shown], language),
    error_msg: error === null ? null : new AppError(error).text(language),
    admin: adminOf(row),
    filters: filtersOf(row),
    file_url: status === 1 ? `/api/admin/exports/${id}/download` : null,
  };
}
