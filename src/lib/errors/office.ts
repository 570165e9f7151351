// Dictionaries, the blacklist, logs, failed jobs, online administrators, notifications, tickets and links.
import { outcomes } from './outcomes.js';

export const office = outcomes({
  failed_job_unknown: [400, 40001, '当前版本无法执行该任务', 'This release has no such job, or cannot read what it carries'],
  failed_job_over: [400, 40001, '该任务对应的工作已结束，无法重试', 'The work of this job has ended; it cannot be retried'],
  dictionary_has_children: [400, 40002, '字典存在子项，无法删除', 'The dictionary has entries and cannot be deleted'],
  link_invalid: [401, 10007, '文件链接无效或已过期', 'The URL of the file is invalid or has expired'],
  ticket_invalid: [401, 10007, '连接票据无效或已过期', 'The ticket is invalid or has expired'],
  ip_blocked: [403, 20003, '您的 IP 已被禁止访问', 'Your address is blocked'],
  origin_not_allowed: [403, 20003, '来自 {origin} 的网页不能连接', 'Pages of {origin} may not connect here'],
  dictionary_not_found: [404, 20002, '字典不存在', 'The dictionary entry does not exist'],
  blacklist_not_found: [404, 20002, '黑名单记录不存在', 'The blacklist entry does not exist'],
  failed_job_not_found: [404, 20002, '失败任务不存在', 'There is no such failed job'],
  log_not_found: [404, 20002, '日志不存在', 'The log entry does not exist'],
  online_admin_not_found: [404, 20002, '会话不存在', 'The session does not exist'],
  notification_not_found: [404, 20002, '通知不存在', 'The notification does not exist'],
  dictionary_cycle: [422, 30001, '上级字典不能是自己或自己的下级', 'An entry cannot be placed below itself'],
  dictionary_too_deep: [422, 30001, '字典最多 {depth} 级', 'Dictionary entries may be nested {depth} levels deep at most'],
  blacklist_covers_self: [422, 30001, '不能屏蔽自己当前的地址', 'The entry would block your own address'],
  dictionary_code_exists: [422, 30002, '同级字典编码已存在', 'The code is taken among its siblings'],
  blacklist_exists: [422, 30002, '该地址范围已在黑名单中', 'That range is on the blacklist already'],
  dictionary_unknown: [422, 30003, '所选上级字典不存在', 'The parent dictionary does not exist'],
  receiver_unknown: [422, 30003, '接收人不存在', 'A receiver does not exist'],
  blacklist_ip_invalid: [422, 30004, 'IP 地址、网段或范围格式不正确', 'Not an address, CIDR block or range (first-last)'],
});
