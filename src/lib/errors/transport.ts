// Requests, limits and unavailable servers.
import { outcomes } from './outcomes.js';

export const transport = outcomes({
  bad_request: [400, 30001, '请求格式不正确', 'The request is malformed'],
  body_not_json: [400, 30001, '请求体不是有效的 JSON', 'The body is not valid JSON'],
  body_not_object: [400, 30001, '请求体必须是 JSON 对象', 'The body must be a JSON object'],
  body_key_reserved: [400, 30001, '请求体不能含有键 __proto__', 'The body must not contain the key __proto__'],
  body_too_deep: [400, 30001, '请求体嵌套层数过多', 'The body is nested too deeply'],
  body_encoding_invalid: [400, 30001, '请求体必须是 UTF-8 编码', 'The body must be UTF-8'],
  validation_failed: [400, 30001, '参数验证失败', 'Some parameters are missing or have the wrong type'],
  route_not_found: [404, 404, '接口不存在', 'There is no such endpoint'],
  request_timeout: [408, 408, '请求未能及时到达', 'The request did not arrive in time'],
  payload_too_large: [413, 413, '请求体过大', 'The request body is too large'],
  content_type_unsupported: [
    415,
    415,
    '请求体必须是 JSON，并以 Content-Type: application/json 发送',
    'The body must be JSON, sent with Content-Type: application/json',
  ],
  content_encoding_unsupported: [415, 415, '不支持压缩的请求内容', 'Compressed request bodies are not accepted'],
  range_not_satisfiable: [416, 416, '请求的范围无效', 'The range is outside the file'],
  value_not_acceptable: [422, 30001, '参数值不符合要求', 'Some values are not acceptable'],
  format_invalid: [422, 30004, '参数格式不正确', 'Some values have an invalid format'],
  timezone_invalid: [422, 30004, '时区无效', 'The time zone is not known'],
  too_many_streams: [429, 429, '打开的实时连接过多', 'Too many live connections are open'],
  too_many_exports: [429, 429, '您有过多导出任务尚未完成，请稍后再试', 'Too many of your exports are not finished yet'],
  too_many_requests: [429, 429, '请求过于频繁，请稍后再试', 'Too many requests, please try again later'],
  // Never sent; only for the access log (nginx's 499).
  client_gone: [499, 499, '客户端已断开连接', 'The client has closed the connection'],
  internal_error: [500, 50001, '服务器内部错误', 'An unexpected error occurred'],
  storage_unavailable: [502, 50005, '文件存储暂不可用', 'The file storage is not available'],
  third_party_error: [502, 50005, '第三方服务异常：{reason}', 'A third-party service failed: {reason}'],
  database_unavailable: [
    503,
    50002,
    '数据库暂时不可用，请稍后重试；使用相同的 Idempotency-Key 重试不会重复执行',
    'The database is not available at the moment; trying again with the same Idempotency-Key does nothing twice',
  ],
  database_busy: [
    503,
    50002,
    '数据正被其他操作占用，请稍后重试；使用相同的 Idempotency-Key 重试不会重复执行',
    'The data is in use by others; trying again with the same Idempotency-Key does nothing twice',
  ],
  cache_unavailable: [503, 50003, '缓存暂时不可用', 'The cache is not available at the moment'],
  queue_unavailable: [503, 50004, '队列暂时不可用', 'The queue is not available at the moment'],
});
