// Attachments, chunked uploads, exports and imports.
import { outcomes } from './outcomes.js';

export const files = {
  ...outcomes(400, 40001, {
    import_not_running: ['导入已结束，无法取消', 'The import has ended and cannot be cancelled'],
  }),
  ...outcomes(400, 40002, {
    import_running: ['导入进行中，无法删除', 'The import is running and cannot be deleted'],
  }),
  ...outcomes(400, 40005, {
    upload_quota_exceeded: ['已超出上传空间配额', 'Your room for uploads is used up'],
    chunk_session_closed: ['该上传已结束或正在合并', 'The upload has ended or is being merged'],
    chunk_sessions_exhausted: ['进行中的分片上传过多', 'Too many chunked uploads are open'],
  }),
  ...outcomes(400, 40006, {
    export_not_ready: ['导出文件尚未生成', 'The file of the export is not there yet'],
    export_expired: ['导出文件已过期', 'The file of the export has expired'],
    export_cancelled: ['导出已取消', 'The export was cancelled'],
    import_cancelled: ['导入已取消', 'The import was cancelled'],
    import_errors_missing: ['该导入没有失败的行，或已过期', 'The import has no failed rows, or they have expired'],
  }),
  ...outcomes(404, 20002, {
    attachment_not_found: ['附件不存在', 'The attachment does not exist'],
    attachment_file_missing: ['附件文件不存在', 'The file of the attachment does not exist'],
    chunk_session_not_found: ['分片上传会话不存在', 'There is no such chunked upload'],
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
    import_head_invalid: ['CSV 表头无效：{columns}', 'The header row of the CSV file is not valid: {columns}'],
  }),
  ...outcomes(422, 40005, {
    file_type_not_allowed: ['不允许上传该类型的文件；允许的类型：{types}', 'Files of this type may not be uploaded; allowed: {types}'],
    file_content_mismatch: ['文件内容与扩展名不符', 'The content of the file does not fit its extension'],
    file_type_mismatch: ['文件不属于所声明的类型', 'The file is not of the type that was announced'],
    file_name_invalid: ['文件名无效', 'The file name is not usable'],
    file_empty: ['文件不能为空', 'The file is empty'],
    chunk_session_mismatch: ['分片参数与上传会话不一致', 'The values differ from those the upload began with'],
    chunk_count_invalid: ['分片数量与文件大小、分片大小不一致', 'The number of chunks does not fit the size of the file and of its chunks'],
    chunk_index_invalid: ['分片序号无效', 'There is no chunk of that index'],
    chunk_size_invalid: ['分片大小无效', 'The chunk has the wrong size'],
    chunks_missing: ['缺少分片：{indexes}', 'Chunks are missing: {indexes}'],
    upload_size_mismatch: ['合并后的文件大小不一致', 'The size of the whole differs from the one announced'],
    upload_digest_mismatch: ['合并后的文件校验值不一致', 'The SHA-256 of the whole differs from the one announced'],
  }),
  ...outcomes(422, 40006, {
    import_too_many_rows: ['数据行数超过上限 {limit}', 'The file has more than {limit} rows of data'],
  }),
  ...outcomes(500, 40005, {
    storage_full: ['存储空间不足，上传失败', 'There is no room left to store the file'],
    upload_failed: ['上传失败', 'The upload failed'],
  }),
  ...outcomes(500, 40006, {
    export_failed: ['导出失败', 'The export failed'],
    import_failed: ['导入失败，重试其失败任务会从中断处继续', 'The import failed; a retry of its failed job continues it'],
  }),
};
