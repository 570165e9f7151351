// Receives a file of orders: an unusable file is refused at once, any other becomes an import and its job.
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { currentLanguage } from '../../lib/process/context.js';
import { CsvBroken, formatOf, isBlank, readCsv, type CsvFormat } from '../../lib/sheets/csv-source.js';
import { fail } from '../../lib/errors/app-error.js';
import { say } from '../../lib/values/language.js';
import { logger } from '../../lib/watch/logger.js';
import { importOrders } from '../../jobs/import-orders.js';
import type { Identity } from '../../models/access/identity.js';
import { createImport, getImport, importStatusText } from '../../models/imports/import.js';
import { firstErrors } from '../../models/imports/import-error.js';
import { layoutOf } from '../../models/imports/order-sheet.js';
import { keepOrRemove, storeFile } from '../../models/files/stored-file.js';
import {
  integer,
  integerOrNull,
  listOf,
  record,
  text,
  textOrNull,
  type Answered,
} from '../declare/response.js';
import type { Upload } from '../declare/route.js';

/** How long an answer waits for the end of the import. */
const waitMs = 3000;
const maxErrors = 100;
const maxName = 255;
/** Millions of blank lines would occupy this process for minutes. */
const maxBlank = 10_000;
/** Records of a piece are parsed in one go; one of another length than the first costs 60 µs. */
const pieceBytes = 1024;

/** How far an import has come, in answers. */
export const orderImport = record({
  import_id: integer(),
  status: integer().description('0 waiting or running, 1 finished, 2 failed or cancelled'),
  status_text: text(),
  total_rows: integerOrNull(),
  success_count: integer(),
  failed_count: integer(),
  order_count: integer(),
  error_msg: textOrNull(),
  errors: listOf(record({ row: integer(), column: text(), value: text(), reason: text() })).max(maxErrors),
});

type OrderImport = Answered<typeof orderImport>;

/**
 * Starts importing orders from an uploaded file.
 *
 * @returns how far it came within 3 seconds, with the first rows that were refused
 * @throws import_not_csv, import_encoding_unknown, import_line_too_long, import_file_invalid, import_head_invalid,
 * import_rows_missing, storage_full, upload_failed
 */
export async function receiveImport(upload: Upload, admin: Identity, dryRun: boolean): Promise<OrderImport> {
  const filename = nameOf(upload);
  const format = await formatOf(upload.path);
  await assertRows(upload.path, format);
  const storage_key = await storeFile('imports', upload.path);
  const file = { filename, size: upload.size, storage_key, ...format };
  const id = await keepOrRemove(storage_key, () =>
    createImport({ ...file, admin_id: admin.adminId, dry_run: dryRun }),
  );
  await importOrders
    .enqueueAndWait({ id }, waitMs)
    .catch((error: unknown) =>
      logger.warn({ error }, 'enqueueing failed; the sweeper will queue this import'),
    );
  return importAnswer(id, admin).catch((error: unknown) => {
    logger.warn({ error, id }, 'reading a stored import failed; it is answered as waiting');
    return waiting(id);
  });
}

/** A stored import that cannot be read: after a refusal its sender would send the file again. */
function waiting(import_id: number): OrderImport {
  const counts = { total_rows: null, success_count: 0, failed_count: 0, order_count: 0 };
  const status_text = say(importStatusText({ status: 0, error: null, ...counts }), currentLanguage());
  return { import_id, status: 0, status_text, ...counts, error_msg: null, errors: [] };
}

/** How far an import has come, with the first rows that were refused. */
export async function importAnswer(id: number, admin: Identity): Promise<OrderImport> {
  const { status, status_text, total_rows, success_count, failed_count, order_count, error_msg } =
    await getImport(admin, id);
  const errors = await firstErrors(id, maxErrors, currentLanguage());
  const counts = { total_rows, success_count, failed_count, order_count };
  return { import_id: id, status, status_text, ...counts, error_msg, errors };
}

function nameOf({ filename }: Upload): string {
  // Windows clients may send a whole path.
  const name = basename(filename.replaceAll('\\', '/')).replace(/\p{C}/gu, '');
  return /.\.csv$/i.test(name) ? name.slice(-maxName) : fail('import_not_csv', { field: 'file' });
}

// The first two records that are not blank; the whole file is not parsed here.
async function assertRows(path: string, format: CsvFormat): Promise<void> {
  let hasHead = false;
  let blank = 0;
  try {
    for await (const { records } of readCsv(createReadStream(path, { highWaterMark: pieceBytes }), format)) {
      for (const record of records) {
        if (isBlank(record)) {
          if (++blank > maxBlank) fail('import_rows_missing', { field: 'file' });
          continue;
        }
        if (hasHead) return;
        layoutOf(record);
        hasHead = true;
      }
    }
  } catch (error) {
    if (!(error instanceof CsvBroken)) throw error;
    fail('import_file_invalid', { field: 'file', params: { row: error.row } });
  }
  fail('import_rows_missing', { field: 'file' });
}
