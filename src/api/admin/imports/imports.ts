// /imports: files of order imports; a super administrator sees all, others their own. POST /orders/import (orders.ts)
// creates them.
import { Readable } from 'node:stream';
import Joi from 'joi';
import type { Context } from 'koa';
import { currentLanguage } from '../../../lib/process/context.js';
import { byteOrderMark, csvLine } from '../../../lib/sheets/csv.js';
import { fail } from '../../../lib/errors/app-error.js';
import { pageKeys, type ListQuery } from '../../../lib/input/list-query.js';
import {
  cancelImport,
  getImport,
  importQuery,
  listImports,
  deleteImport,
} from '../../../models/imports/import.js';
import { listErrors } from '../../../models/imports/import-error.js';
import { openErrorFile } from '../../../models/imports/import-error-file.js';
import { Import } from '../../../models/imports/tables.js';
import { columnHead, columnRule, sheetColumns } from '../../../models/imports/order-sheet.js';
import { sendEvents } from '../../http/event-stream.js';
import { fileLink, linkDescription, linkTo } from '../../declare/file-link.js';
import { namedAdmin } from '../../declare/records.js';
import { sendFile } from '../../http/file-response.js';
import { described, integer, keysOf, pageOf, resource, text, textOrNull } from '../../declare/response.js';
import { can, route } from '../../declare/route.js';

const item = resource('Import', {
  ...described(keysOf(Import), {
    status: ['0 waiting or running, 1 finished, 2 failed or cancelled'],
    type: ['Imported records', 'orders'],
  }),
  status_text: text(),
  processed_rows: integer(),
  error_msg: textOrNull(),
  admin: namedAdmin,
  error_file_url: textOrNull(),
});

const show = can('import.show', '查看导入', 'Show imports');
const progressEveryMs = 1000;

export const routes = [
  route('GET', '/imports', {
    name: 'listImports',
    summary: 'List imports',
    access: can('import.index', '查看导入列表', 'List imports'),
    query: importQuery,
    response: pageOf(item),
    handle: ({ admin, query }) => listImports(admin, query),
  }),
  route('GET', '/imports/template', {
    name: 'downloadImportTemplate',
    summary: 'Download the import template',
    description: 'The names of the columns, and below them a row that says what each takes; delete that row.',
    access: can('order.import', '导入订单', 'Import orders'),
    reply: 'file',
    handle(_call, ctx) {
      const language = currentLanguage();
      const head = sheetColumns.map((column) => columnHead(column, language));
      const rules = sheetColumns.map((column) => columnRule(column, language));
      const sheet = Readable.from([byteOrderMark + csvLine(head) + csvLine(rules)]);
      return sendCsv(ctx, 'orders.csv', () => Promise.resolve(sheet));
    },
  }),
  route('GET', '/imports/{id}', {
    name: 'showImport',
    summary: 'Show an import',
    access: show,
    fails: ['import_not_found'],
    response: item,
    handle: ({ admin, params }) => getImport(admin, params.id),
  }),
  route('GET', '/imports/{id}/progress', {
    name: 'streamImport',
    summary: 'Stream an import as server-sent events until it has ended',
    description:
      'Events `connected`, then `import` with the record every second; the stream ends with the import.',
    access: show,
    reply: 'event-stream',
    fails: ['import_not_found'],
    async handle({ admin, params }, ctx) {
      await getImport(admin, params.id);
      sendEvents(ctx, admin, {
        type: 'import',
        intervalMs: progressEveryMs,
        read: () => getImport(admin, params.id),
        isLast: (value) => (value as { status: number }).status !== 0,
      });
    },
  }),
  route('GET', '/imports/{id}/errors', {
    name: 'listImportErrors',
    summary: 'List the failed rows of an import with their reasons',
    access: show,
    query: Joi.object<Pick<ListQuery, 'page' | 'page_size'>, true>(pageKeys()),
    fails: ['import_not_found'],
    response: pageOf(
      resource('ImportError', { row: integer(), column: text(), value: text(), reason: text() }),
    ),
    async handle({ admin, params, query }) {
      await getImport(admin, params.id);
      return listErrors(params.id, query, currentLanguage());
    },
  }),
  route('GET', '/imports/{id}/error-file', {
    name: 'downloadImportErrors',
    summary: 'Download the failed rows, to correct and import them again',
    description:
      'A CSV file (UTF-8 with byte order mark) with the columns of the imported file and a last column ' +
      '`reason`. It has a line for each row that was not imported, also for good rows of an order with a ' +
      'bad one. It can be corrected and imported; `reason` is then ignored. A cell of more than 1,000 ' +
      'characters is cut there and marked with `…`; of cells without a column the first five are shown. ' +
      'It supports no range requests. `/imports/{id}/errors` lists every single problem.',
    access: show,
    link: true,
    reply: 'file',
    fails: ['import_errors_missing', 'import_not_found'],
    async handle({ admin, params }, ctx) {
      const { filename, error_file_url } = await getImport(admin, params.id);
      if (error_file_url === null) fail('import_errors_missing');
      const name = `${filename.replace(/\.csv$/i, '')}-errors.csv`;
      await sendCsv(ctx, name, () => openErrorFile(params.id, currentLanguage()));
    },
  }),
  route('GET', '/imports/{id}/link', {
    name: 'linkImportErrors',
    summary: 'Get a signed URL of the error file',
    description: linkDescription,
    fails: ['import_errors_missing', 'import_not_found'],
    access: show,
    response: fileLink,
    async handle({ admin, params }) {
      const { error_file_url } = await getImport(admin, params.id);
      if (error_file_url === null) fail('import_errors_missing');
      return linkTo(`/imports/${params.id}/error-file`, admin);
    },
  }),
  route('POST', '/imports/{id}/cancel', {
    name: 'cancelImport',
    summary: 'Stop a waiting or running import',
    description: 'Orders it has made stay; `order_count` says how many.',
    access: can('import.cancel', '取消导入', 'Cancel imports'),
    fails: ['import_cancelled', 'import_not_found', 'import_not_running'],
    response: item,
    async handle({ admin, params }) {
      await cancelImport(admin, params.id);
      return getImport(admin, params.id);
    },
  }),
  route('DELETE', '/imports/{id}', {
    name: 'deleteImport',
    summary: 'Delete the record of an ended import',
    description: 'Orders it has made stay.',
    access: can('import.destroy', '删除导入', 'Delete imports'),
    fails: ['import_not_found', 'import_running'],
    subject: ({ admin, params }, t) => getImport(admin, params.id, t),
    handle: ({ admin, params }) => deleteImport(admin, params.id),
  }),
];

function sendCsv(ctx: Context, filename: string, open: () => Promise<Readable>): Promise<void> {
  return sendFile(ctx, { filename, type: 'text/csv; charset=utf-8', open });
}
