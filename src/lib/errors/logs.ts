// Logs, failed jobs, online administrators, notifications, tickets and links.
import { outcomes } from './outcomes.js';

export const logs = {
  ...outcomes(400, 40001, {
    failed_job_unknown: ['当前版本无法执行该任务', 'This release has no such job, or cannot read what it carries'],
    failed_job_over: ['该任务对应的工作已结束，无法重试', 'The work of this job has ended; it cannot be retried'],
  }),
  ...outcomes(401, 10007, {
    link_invalid: ['文件链接无效或已过期', 'The address of the file is invalid or has expired'],
    ticket_invalid: ['连接票据无效或已过期', 'The ticket is invalid or has expired'],
  }),
  ...outcomes(403, 20003, {
    origin_not_allowed: ['来自 {origin} 的网页不能连接', 'Pages of {origin} may not connect here'],
  }),
  ...outcomes(404, 20002, {
    failed_job_not_found: ['失败任务不存在', 'There is no such failed job'],
    log_not_found: ['日志不存在', 'The log entry does not exist'],
    online_admin_not_found: ['会话不存在', 'The session does not exist'],
    notification_not_found: ['通知不存在', 'The notification does not exist'],
  }),
  ...outcomes(422, 30003, {
    receiver_unknown: ['接收人不存在', 'A receiver does not exist'],
  }),
};
