// Every job of the service.
import { expireOrder } from './expire-order.js';
import { importOrders } from './import-orders.js';
import type { Job } from './job.js';
import { maintainTables } from './maintain-tables.js';
import { mergeChunks } from './merge-chunks.js';
import { settlePayment } from './settle-payment.js';
import { writeExport } from './write-export.js';
import { writeLoginLog } from './write-login-log.js';
import { writeSystemLog } from './write-system-log.js';
import { writeOperationLog } from './write-operation-log.js';

export const jobs = [
  settlePayment,
  expireOrder,
  importOrders,
  writeOperationLog,
  writeLoginLog,
  writeSystemLog,
  maintainTables,
  mergeChunks,
  writeExport,
] as Job[];
