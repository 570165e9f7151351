// Display names of the queues.
import { states } from '../parts/show/states.tsx';

export const queues = states({
  payments: ['支付', 'Payments', 'green'],
  channels: ['支付渠道', 'Channels', 'green'],
  logs: ['日志', 'Logs', 'grey'],
  notifications: ['通知', 'Notifications', 'blue'],
  exports: ['导出', 'Exports', 'blue'],
  imports: ['导入', 'Imports', 'blue'],
  files: ['文件', 'Files', 'gold'],
  maintenance: ['维护', 'Maintenance', 'grey'],
});
