// Every outcome a caller may see: slug → HTTP status, business code (spec.md, Errors) and the text in both languages.
// `{name}` in a text is filled from the error's parameters.

export interface CatalogueEntry {
  status: number;
  code: number;
  zh: string;
  en: string;
}

const entry = (status: number, code: number, zh: string, en: string): CatalogueEntry => ({
  status,
  code,
  zh,
  en,
});

export const errorCatalogue = {
  // Envelope and transport
  bad_request: entry(400, 30001, '请求格式不正确', 'The request is malformed'),
  validation_failed: entry(400, 30001, '参数验证失败', 'Some parameters are missing or have the wrong type'),
  value_not_acceptable: entry(422, 30001, '参数值不符合要求', 'Some values are not acceptable'),
  format_invalid: entry(422, 30004, '参数格式不正确', 'Some values have an invalid format'),
  timezone_invalid: entry(422, 30004, '时区无效', 'The time zone is not known'),
  route_not_found: entry(404, 404, '接口不存在', 'There is no such endpoint'),
  // Never sent; only for the access log (nginx's 499).
  client_gone: entry(499, 499, '客户端已断开连接', 'The client has closed the connection'),
  too_many_streams: entry(429, 429, '打开的实时连接过多', 'Too many live connections are open'),
  too_many_exports: entry(
    429,
    429,
    '您有过多导出任务尚未完成，请稍后再试',
    'Too many of your exports are not finished yet',
  ),
  content_encoding_unsupported: entry(
    415,
    415,
    '不支持压缩的请求内容',
    'Compressed request bodies are not accepted',
  ),
  request_timeout: entry(408, 408, '请求未能及时到达', 'The request did not arrive in time'),
  payload_too_large: entry(413, 413, '请求体过大', 'The request body is too large'),
  range_not_satisfiable: entry(416, 416, '请求的范围无效', 'The range lies outside the file'),
  too_many_requests: entry(429, 429, '请求过于频繁，请稍后再试', 'Too many requests, please try again later'),
  internal_error: entry(500, 50001, '服务器内部错误', 'An unexpected error occurred'),
  database_unavailable: entry(
    503,
    50002,
    '数据库暂时不可用，请稍后重试；使用相同的 Idempotency-Key 重试不会重复执行',
    'The database is not available at the moment; trying again with the same Idempotency-Key does nothing twice',
  ),
  database_busy: entry(
    503,
    50002,
    '数据正被其他操作占用，请稍后重试；使用相同的 Idempotency-Key 重试不会重复执行',
    'The data is in use by others; trying again with the same Idempotency-Key does nothing twice',
  ),
  cache_unavailable: entry(503, 50003, '缓存暂时不可用', 'The cache is not available at the moment'),
  queue_unavailable: entry(503, 50004, '队列暂时不可用', 'The queue is not available at the moment'),
  storage_unavailable: entry(502, 50005, '文件存储暂不可用', 'The file storage does not answer'),
  third_party_error: entry(502, 50005, '第三方服务异常：{reason}', 'A third-party service failed: {reason}'),

  // Sign-in and session
  not_logged_in: entry(401, 401, '请先登录', 'Please sign in'),
  token_expired: entry(401, 10003, '登录已过期，请重新登录', 'The token has expired, please sign in again'),
  token_revoked: entry(
    401,
    10004,
    '登录已失效，请重新登录',
    'The token has been revoked, please sign in again',
  ),
  token_invalid: entry(401, 10007, '登录凭证无效', 'The token is invalid'),
  username_or_password_error: entry(401, 10001, '用户名或密码错误', 'Wrong username or password'),
  account_disabled: entry(403, 10002, '账号已被禁用', 'The account is disabled'),
  captcha_required: entry(400, 10005, '请输入验证码', 'A captcha is required'),
  captcha_invalid: entry(400, 10005, '验证码错误或已失效', 'The captcha is wrong or has expired'),
  login_locked: entry(
    429,
    10006,
    '登录失败次数过多，请稍后再试',
    'Too many failed sign-ins, please try again later',
  ),
  old_password_wrong: entry(422, 10001, '原密码错误', 'The old password is wrong'),

  password_change_required: entry(
    403,
    20003,
    '请先修改初始密码',
    'The password was set by somebody else and must be changed first',
  ),

  // Rights
  no_permission: entry(403, 20001, '没有操作权限', 'You have no permission for this operation'),
  grant_beyond_own: entry(
    403,
    20003,
    '不能授予或修改超出自身权限的内容',
    'You may not grant or change rights beyond your own',
  ),
  super_admin_protected: entry(
    403,
    20003,
    '只有超级管理员可以操作超级管理员',
    'Only a super administrator may touch super administrators',
  ),
  builtin_permission_protected: entry(
    403,
    20003,
    '只有超级管理员可以修改内置权限',
    'Only a super administrator may change built-in permissions',
  ),
  super_admin_role_protected: entry(
    403,
    20003,
    '超级管理员角色的标识和状态不可修改，也不可删除',
    'Slug and status of the super-administrator role are fixed, and it cannot be deleted',
  ),
  module_orders_disabled: entry(403, 20003, '订单模块未启用', 'The order module is switched off'),
  module_payments_disabled: entry(403, 20003, '支付模块未启用', 'The payment module is switched off'),

  // Administrators, roles, menus, permissions
  admin_not_found: entry(404, 20002, '管理员不存在', 'The administrator does not exist'),
  role_not_found: entry(404, 20002, '角色不存在', 'The role does not exist'),
  menu_not_found: entry(404, 20002, '菜单不存在', 'The menu does not exist'),
  permission_not_found: entry(404, 20002, '权限不存在', 'The permission does not exist'),
  department_unknown: entry(422, 30003, '所选部门不存在', 'The department referred to does not exist'),
  role_unknown: entry(422, 30003, '所选角色不存在', 'A role referred to does not exist'),
  menu_unknown: entry(422, 30003, '所选菜单不存在', 'A menu referred to does not exist'),
  permission_unknown: entry(422, 30003, '所选权限不存在', 'A permission referred to does not exist'),
  username_exists: entry(422, 30002, '用户名已存在', 'The username is taken'),
  role_slug_exists: entry(422, 30002, '角色标识已存在', 'The role slug is taken'),
  menu_slug_exists: entry(422, 30002, '菜单标识已存在', 'The menu slug is taken'),
  permission_slug_exists: entry(422, 30002, '权限标识已存在', 'The permission slug is taken'),
  admin_delete_self: entry(400, 40002, '不能删除自己', 'You cannot delete yourself'),
  admin_disable_self: entry(400, 40003, '不能禁用自己', 'You cannot disable yourself'),
  last_super_admin: entry(
    400,
    40001,
    '至少需要保留一个启用的超级管理员',
    'At least one enabled super administrator must remain',
  ),
  role_in_use: entry(400, 40002, '角色正在使用中，无法删除', 'The role is in use and cannot be deleted'),
  menu_has_children: entry(
    400,
    40002,
    '菜单存在子菜单，无法删除',
    'The menu has children and cannot be deleted',
  ),
  menu_cycle: entry(422, 30001, '上级菜单不能是自己或自己的下级', 'A menu cannot be placed below itself'),
  menu_too_deep: entry(422, 30001, '菜单层级过深', 'Menus may be nested {depth} levels deep at most'),

  // Departments, dictionaries, blacklist
  department_not_found: entry(404, 20002, '部门不存在', 'The department does not exist'),
  department_has_children: entry(
    400,
    40002,
    '部门存在下级部门，无法删除',
    'The department has children and cannot be deleted',
  ),
  department_has_admins: entry(
    400,
    40002,
    '部门下存在管理员，无法删除',
    'The department has administrators and cannot be deleted',
  ),
  department_cycle: entry(
    422,
    30001,
    '上级部门不能是自己或自己的下级',
    'A department cannot be placed below itself',
  ),
  dictionary_not_found: entry(404, 20002, '字典不存在', 'The dictionary entry does not exist'),
  dictionary_unknown: entry(422, 30003, '所选上级字典不存在', 'The parent dictionary does not exist'),
  dictionary_code_exists: entry(422, 30002, '同级字典编码已存在', 'The code is taken among its siblings'),
  dictionary_has_children: entry(
    400,
    40002,
    '字典存在子项，无法删除',
    'The dictionary has entries and cannot be deleted',
  ),
  dictionary_cycle: entry(
    422,
    30001,
    '上级字典不能是自己或自己的下级',
    'An entry cannot be placed below itself',
  ),
  blacklist_not_found: entry(404, 20002, '黑名单记录不存在', 'The blacklist entry does not exist'),
  blacklist_exists: entry(422, 30002, '该地址范围已在黑名单中', 'That range is on the blacklist already'),
  blacklist_ip_invalid: entry(
    422,
    30004,
    'IP 地址、网段或范围格式不正确',
    'This is no address, CIDR block or first-last range',
  ),
  blacklist_covers_self: entry(
    422,
    30001,
    '不能屏蔽自己当前的地址',
    'The entry would block your own address',
  ),
  ip_blocked: entry(403, 20003, '您的 IP 已被禁止访问', 'Your address is blocked'),

  // Logs, online administrators, notifications
  failed_job_not_found: entry(404, 20002, '失败任务不存在', 'There is no such failed job'),
  failed_job_unknown: entry(
    400,
    40001,
    '当前版本无法执行该任务',
    'This release has no such job, or cannot read what it carries',
  ),
  failed_job_over: entry(
    400,
    40001,
    '该任务对应的工作已结束，无法重试',
    'The work of this job has ended; it cannot be retried',
  ),
  log_not_found: entry(404, 20002, '日志不存在', 'The log entry does not exist'),
  online_admin_not_found: entry(404, 20002, '在线会话不存在', 'There is no such session online'),
  notification_not_found: entry(404, 20002, '通知不存在', 'The notification does not exist'),
  origin_not_allowed: entry(
    403,
    20003,
    '来自 {origin} 的网页不能连接',
    'Pages of {origin} may not connect here',
  ),
  link_invalid: entry(
    401,
    10007,
    '文件链接无效或已过期',
    'The address of the file is invalid or has expired',
  ),
  ticket_invalid: entry(401, 10007, '连接票据无效或已过期', 'The ticket is invalid or has expired'),
  receiver_unknown: entry(422, 30003, '接收人不存在', 'A receiver does not exist'),

  // Attachments
  attachment_not_found: entry(404, 20002, '附件不存在', 'The attachment does not exist'),
  attachment_file_missing: entry(404, 20002, '附件文件不存在', 'The file of the attachment does not exist'),
  file_type_not_allowed: entry(
    422,
    40005,
    '不允许上传该类型的文件',
    'Files of this type may not be uploaded',
  ),
  file_content_mismatch: entry(
    422,
    40005,
    '文件内容与扩展名不符',
    'The content of the file does not fit its extension',
  ),
  file_type_mismatch: entry(
    422,
    40005,
    '文件不属于所声明的类型',
    'The file is not of the type that was announced',
  ),
  file_name_invalid: entry(422, 40005, '文件名无效', 'The file name is not usable'),
  file_empty: entry(422, 40005, '文件不能为空', 'The file is empty'),
  upload_quota_exceeded: entry(400, 40005, '已超出上传空间配额', 'Your room for uploads is used up'),
  storage_full: entry(500, 40005, '存储空间不足，上传失败', 'There is no room left to store the file'),
  chunk_session_not_found: entry(404, 20002, '分片上传会话不存在', 'There is no such chunked upload'),
  chunk_session_mismatch: entry(
    422,
    40005,
    '分片参数与上传会话不一致',
    'The values differ from those the upload began with',
  ),
  chunk_session_closed: entry(
    400,
    40005,
    '该上传已合并或正在合并',
    'The upload is being merged or was merged already',
  ),
  chunk_sessions_exhausted: entry(400, 40005, '进行中的分片上传过多', 'Too many chunked uploads are open'),
  chunk_count_invalid: entry(
    422,
    40005,
    '分片数量与文件大小、分片大小不一致',
    'The number of chunks does not fit the size of the file and of its chunks',
  ),
  chunk_index_invalid: entry(422, 40005, '分片序号无效', 'There is no chunk of that index'),
  chunk_size_invalid: entry(422, 40005, '分片大小无效', 'The chunk has the wrong size'),
  chunks_missing: entry(422, 40005, '缺少分片：{indexes}', 'Chunks are missing: {indexes}'),
  upload_size_mismatch: entry(
    422,
    40005,
    '合并后的文件大小不一致',
    'The size of the whole differs from the one announced',
  ),
  upload_digest_mismatch: entry(
    422,
    40005,
    '合并后的文件校验值不一致',
    'The SHA-256 of the whole differs from the one announced',
  ),
  upload_failed: entry(500, 40005, '上传失败', 'The upload failed'),

  // Exports and imports
  export_not_found: entry(404, 20002, '导出记录不存在', 'The export does not exist'),
  export_not_ready: entry(400, 40006, '导出文件尚未生成', 'The file of the export is not there yet'),
  export_expired: entry(400, 40006, '导出文件已过期', 'The file of the export has expired'),
  export_failed: entry(500, 40006, '导出失败', 'The export failed'),
  export_cancelled: entry(400, 40006, '导出已取消', 'The export was cancelled'),
  import_not_found: entry(404, 20002, '导入记录不存在', 'The import does not exist'),
  import_failed: entry(500, 40006, '导入失败', 'The import failed'),
  import_running: entry(400, 40002, '导入进行中，无法删除', 'The import is running and cannot be deleted'),
  import_not_running: entry(
    400,
    40001,
    '导入已结束，无法取消',
    'The import has ended and cannot be cancelled',
  ),
  import_cancelled: entry(400, 40006, '导入已取消', 'The import was cancelled'),
  import_errors_missing: entry(
    400,
    40006,
    '该导入没有失败的行，或已过期',
    'The import has no failed rows, or they have expired',
  ),
  import_not_csv: entry(422, 30004, '该文件不是 CSV 文件', 'The file is not a CSV file'),
  import_encoding_unknown: entry(
    422,
    30004,
    '无法识别文件编码，请使用 UTF-8 或 GBK',
    'The encoding of the file is neither UTF-8 nor GBK',
  ),
  import_line_too_long: entry(422, 30004, '文件中存在过长的行', 'A line of the file is too long'),
  import_rows_missing: entry(422, 30004, '文件中没有数据行', 'The file has no rows of data'),
  import_file_invalid: entry(
    422,
    30004,
    '从第 {row} 行起无法读取：引号未闭合或记录过长',
    'The file cannot be read from row {row} on: a quote is never closed or the record is too long',
  ),
  import_head_invalid: entry(
    422,
    30004,
    'CSV 表头无效：{columns}',
    'The head of the CSV file is not valid: {columns}',
  ),
  import_too_many_rows: entry(
    422,
    40006,
    '数据行数超过上限 {limit}',
    'The file has more than {limit} rows of data',
  ),

  // Users and orders
  user_has_balance: entry(
    400,
    40002,
    '用户余额不为零，无法删除',
    'The user has a balance and cannot be deleted',
  ),
  insufficient_balance: entry(400, 40001, '余额不足', 'The balance is not sufficient'),
  balance_limit_exceeded: entry(400, 40001, '余额超出上限', 'The balance would exceed the limit'),
  balance_log_not_found: entry(404, 20002, '余额记录不存在', 'The balance log does not exist'),
  request_id_reused: entry(
    422,
    30002,
    '请求号已用于不同的余额变动',
    'The request_id was used for a different change',
  ),
  user_not_found: entry(404, 20002, '用户不存在', 'The user does not exist'),
  user_unknown: entry(422, 30003, '所选用户不存在', 'The user referred to does not exist'),
  user_disabled: entry(400, 40004, '用户已被禁用', 'The user is disabled'),
  user_name_exists: entry(422, 30002, '用户名已存在', 'The username is taken'),
  order_not_found: entry(404, 20002, '订单不存在', 'The order does not exist'),
  order_unknown: entry(422, 30003, '订单不存在', 'The order referred to does not exist'),
  order_amount_mismatch: entry(
    422,
    30001,
    '订单金额与明细合计不一致',
    'The amount is not the sum of the details',
  ),
  order_not_payable: entry(
    400,
    40001,
    '订单当前状态不可支付',
    'The order cannot be paid in its present state',
  ),
  payment_attention_changed: entry(
    400,
    40003,
    '该支付出现了新的待处理原因，请先查看',
    'The payment needs attention for another reason by now; look at it first',
  ),
  payment_beyond_channel: entry(
    400,
    40001,
    '金额超出该支付渠道的限额（{least} 至 {most}）',
    'The amount is beyond the limits of this channel, {least} to {most}',
  ),
  order_expires_too_soon: entry(
    400,
    40001,
    '订单即将过期，该支付渠道已无法受理',
    'The order expires too soon for this channel',
  ),
  order_being_paid: entry(
    400,
    40001,
    '该订单的付款已到账，正在处理中',
    'A payment for this order has arrived and is being settled',
  ),
  order_status_unsettable: entry(
    422,
    40003,
    '订单状态只能改为已取消',
    'The only state an order can be given is cancelled',
  ),
  order_not_cancellable: entry(400, 40003, '只有待支付订单可以取消', 'Only a pending order can be cancelled'),
  order_not_deletable: entry(
    400,
    40002,
    '只有待支付或已取消的订单可以删除',
    'Only pending or cancelled orders can be deleted',
  ),
  idempotency_key_reused: entry(
    422,
    30002,
    '幂等键已用于不同的请求',
    'The Idempotency-Key was used for a different request',
  ),

  // Payments and payment methods
  payment_record_not_found: entry(404, 20002, '支付记录不存在', 'The payment does not exist'),
  payment_method_not_found: entry(404, 20002, '支付方式不存在', 'The payment method does not exist'),
  payment_method_unknown: entry(
    422,
    30003,
    '所选支付方式不存在',
    'The payment method referred to does not exist',
  ),
  payment_method_disabled: entry(400, 40001, '支付方式已停用', 'The payment method is switched off'),
  payment_method_code_exists: entry(422, 30002, '支付方式编码已存在', 'The payment method code is taken'),
  payment_method_in_use: entry(
    400,
    40002,
    '支付方式已被使用，请停用而不是删除',
    'The payment method is used by payments; switch it off instead',
  ),
  payment_gateway_unknown: entry(422, 30001, '未知的支付网关类型', 'The payment gateway type is not known'),
  payment_gateway_disabled: entry(400, 40001, '支付网关未启用', 'The payment gateway is not enabled'),
  payment_gateway_not_implemented: entry(
    501,
    501,
    '支付网关尚未实现该操作',
    'The payment gateway does not implement this operation',
  ),
  payment_amount_not_equal: entry(
    422,
    30001,
    '支付金额必须等于订单金额',
    'The amount must equal the amount of the order',
  ),

  // The payment callback
  invalid_payment_type: entry(400, 400, '未知的支付类型', 'The payment type is not known'),
  payment_notify_invalid: entry(400, 30001, '支付通知无效', 'The payment notification is not valid'),
  payment_not_found: entry(400, 30003, '支付记录不存在', 'The payment does not exist'),
  payment_sign_invalid: entry(
    400,
    40001,
    '支付通知签名无效',
    'The signature of the payment notification is not valid',
  ),
  payment_amount_mismatch: entry(
    400,
    40001,
    '支付金额不一致',
    'The amount differs from the amount of the payment',
  ),
  payment_third_party_no_used: entry(
    400,
    30002,
    '第三方交易号已被其他支付使用',
    'The third-party number already paid another payment',
  ),
  tenant_required: entry(400, 400, '缺少租户标识', 'The tenant is missing'),
  tenant_not_found: entry(404, 404, '租户不存在', 'The tenant does not exist'),
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorSlug = keyof typeof errorCatalogue;
