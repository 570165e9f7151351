// Attachments and chunked uploads.
import { outcomes } from './outcomes.js';

export const files = {
  ...outcomes(400, 40005, {
    upload_quota_exceeded: ['已超出上传空间配额', 'Your room for uploads is used up'],
    chunk_session_closed: ['该上传已结束或正在合并', 'The upload has ended or is being merged'],
    chunk_sessions_exhausted: ['进行中的分片上传过多', 'Too many chunked uploads are open'],
  }),
  ...outcomes(404, 20002, {
    attachment_not_found: ['附件不存在', 'The attachment does not exist'],
    attachment_file_missing: ['附件文件不存在', 'The file of the attachment does not exist'],
    chunk_session_not_found: ['分片上传会话不存在', 'There is no such chunked upload'],
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
  ...outcomes(500, 40005, {
    storage_full: ['存储空间不足，上传失败', 'There is no room left to store the file'],
    upload_failed: ['上传失败', 'The upload failed'],
  }),
};
