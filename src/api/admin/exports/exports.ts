// /exports: exported files; a super administrator sees all, others their own.
import type { Context } from 'koa';
import { AppError, fail } from '../../../lib/errors/app-error.js';
import { idsBody } from '../../../lib/input/schema.js';
import type { Identity } from '../../../models/access/identity.js';
import {
  asCancelled,
  exportFile,
  exportQuery,
  getExport,
  listExports,
  deleteExports,
  type ExportRecord,
} from '../../../models/exports/export.js';
import type { ExportFormat } from '../../../models/exports/tables.js';
import { sendEvents } from '../../http/event-stream.js';
import { exportRecord, mayExport } from '../../declare/export-routes.js';
import { fileLink, linkDescription, linkTo } from '../../declare/file-link.js';
import { sendStored } from '../../http/file-response.js';
import { integer, pageOf, record } from '../../declare/response.js';
import { can, route } from '../../declare/route.js';

const progressEveryMs = 500;

const mediaTypes: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

const show = can('export.show', '查看导出', 'Show exports');
const download = can('export.download', '下载导出文件', 'Download exports');
const destroy = can('export.destroy', '删除导出', 'Delete exports');

export const routes = [
  route('GET', '/exports', {
    name: 'listExports',
    summary: 'List exports',
    access: can('export.index', '查看导出列表', 'List exports'),
    query: exportQuery,
    response: pageOf(exportRecord),
    handle: ({ admin, query }) => listExports(admin, query),
  }),
  route('POST', '/exports/batch-delete', {
    name: 'deleteExports',
    summary: 'Delete several exports',
    description: 'Running ones are cancelled. Answers how many there were; others’ are left alone.',
    access: destroy,
    body: idsBody(100),
    response: record({ count: integer() }),
    handle: async ({ admin, body }) => ({ count: await deleteExports(admin, body.ids) }),
  }),
  route('GET', '/exports/{id}', {
    name: 'showExport',
    summary: 'Show an export',
    access: show,
    fails: ['export_not_found'],
    response: exportRecord,
    handle: ({ admin, params }) => getExport(admin, params.id),
  }),
  route('GET', '/exports/{id}/progress', {
    name: 'streamExport',
    summary: 'Stream an export as server-sent events until it has ended',
    description:
      'Events `connected`, then `export` with the record twice a second; the stream ends with the last one.',
    access: show,
    reply: 'event-stream',
    fails: ['export_cancelled', 'export_not_found'],
    async handle({ admin, params }, ctx) {
      const known = await getExport(admin, params.id);
      sendEvents(ctx, admin, {
        type: 'export',
        intervalMs: progressEveryMs,
        read: () => latestOf(admin, known),
        isLast: (latest) => (latest as ExportRecord).status !== 0,
      });
    },
  }),
  route('GET', '/exports/{id}/download', {
    name: 'downloadExport',
    summary: 'Download the file',
    access: download,
    link: true,
    reply: 'file',
    fails: ['export_expired', 'export_failed', 'export_not_found', 'export_not_ready'],
    handle: ({ admin, params }, ctx) => sendExport(ctx, admin, params.id),
  }),
  route('GET', '/exports/{id}/link', {
    name: 'linkExport',
    summary: 'Get a signed URL of the file',
    description: linkDescription,
    fails: ['export_expired', 'export_failed', 'export_not_found', 'export_not_ready'],
    access: download,
    response: fileLink,
    async handle({ admin, params }) {
      await fileOf(admin, params.id);
      return linkTo(`/exports/${params.id}/download`, admin);
    },
  }),
  route('DELETE', '/exports/{id}', {
    name: 'deleteExport',
    summary: 'Delete an export with its file; a running one is cancelled',
    access: destroy,
    fails: ['export_not_found'],
    subject: ({ admin, params }, t) => getExport(admin, params.id, { t }),
    async handle({ admin, params }) {
      if ((await deleteExports(admin, [params.id])) === 0) fail('export_not_found');
    },
  }),
];

// An export deleted while watched ends as cancelled.
async function latestOf(viewer: Identity, known: ExportRecord): Promise<ExportRecord> {
  try {
    return await getExport(viewer, known.id);
  } catch (error) {
    if (!(error instanceof AppError) || error.slug !== 'export_not_found') throw error;
    return asCancelled(known);
  }
}

async function sendExport(ctx: Context, admin: Identity, id: number): Promise<void> {
  const { key, filename, size, format } = await fileOf(admin, id);
  const type = mediaTypes[format];
  const etag = key.replaceAll('/', '-');
  await sendStored(ctx, { key, filename, type, size, etag, missing: 'export_expired' });
}

// The right to export that list may have been taken away since.
async function fileOf(admin: Identity, id: number): ReturnType<typeof exportFile> {
  const file = await exportFile(admin, id);
  if (!mayExport(admin, file.type)) fail('no_permission');
  return file;
}
