// Display names of the queues.
import { states } from '../parts/show/states.tsx';

export const queues = states({
  payments: ['支付', 'Payments', 'green'],
  channels: ['渠道查询', 'Channel queries', 'green'],
  logs: ['日志', 'Logs', 'grey'],
  notifications: ['通知', 'Notifications', 'blue'],
  exports: ['导出', 'Exports', 'blue'],
  imports: ['导入', 'Imports', 'blue'],
  files: ['文件', 'Files', 'gold'],
  maintenance: ['维护', 'Maintenance', 'grey'],
});
