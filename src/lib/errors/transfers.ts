// Exports and imports.
import { outcomes } from './outcomes.js';

export const transfers = {
  ...outcomes(400, 40001, {
    import_not_running: ['导入已结束，无法取消', 'The import has ended and cannot be cancelled'],
  }),
  ...outcomes(400, 40002, {
    import_running: ['导入进行中，无法删除', 'The import is running and cannot be deleted'],
  }),
  ...outcomes(400, 40006, {
    export_not_ready: ['导出文件尚未生成', 'The file of the export is not there yet'],
    export_expired: ['导出文件已过期', 'The file of the export has expired'],
    export_cancelled: ['导出已取消', 'The export was cancelled'],
    import_cancelled: ['导入已取消', 'The import was cancelled'],
    import_errors_missing: ['该导入没有失败的行，或已过期', 'The import has no failed rows, or they have expired'],
  }),
  ...outcomes(404, 20002, {
    export_not_found: ['导出记录不存在', 'The export does not exist'],
    import_not_found: ['导入记录不存在', 'The import does not exist'],
  }),
  ...outcomes(422, 30004, {
    import_not_csv: ['该文件不是 CSV 文件', 'The file is not a CSV file'],
    import_encoding_unknown: ['无法识别文件编码，请使用 UTF-8 或 GBK', 'The encoding of the file is neither UTF-8 nor GBK'],
    import_line_too_long: ['文件中存在过长的行', 'A line of the file is too long'],
    import_rows_missing: ['文件中没有数据行', 'The file has no rows of data'],
    import_file_invalid: [
      '从第 {row} 行起无法读取：引号未闭合或记录过长',
      'The file cannot be read from row {row} on: a quote is never closed or the record is too long',
    ],
    import_head_invalid: ['CSV 表头无效：{columns}', 'The head of the CSV file is not valid: {columns}'],
  }),
  ...outcomes(422, 40006, {
    import_too_many_rows: ['数据行数超过上限 {limit}', 'The file has more than {limit} rows of data'],
  }),
  ...outcomes(500, 40006, {
    export_failed: ['导出失败', 'The export failed'],
    import_failed: ['导入失败，重试其失败任务会从中断处继续', 'The import failed; a retry of its failed job continues it'],
  }),
};
