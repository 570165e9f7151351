// Every job of the service.
import { askChannel } from './ask-channel.js';
import { deliverNotification } from './deliver-notification.js';
import { expireOrder } from './expire-order.js';
import { importOrders } from './import-orders.js';
import type { Job } from './job.js';
import { maintainTables } from './maintain-tables.js';
import { mergeChunks } from './merge-chunks.js';
import { sendRefund } from './send-refund.js';
import { settlePayment } from './settle-payment.js';
import { writeExport } from './write-export.js';
import { writeLogs } from './write-logs.js';

export const jobs = [
  settlePayment,
  expireOrder,
  askChannel,
  sendRefund,
  importOrders,
  writeLogs,
  deliverNotification,
  maintainTables,
  mergeChunks,
  writeExport,
] as Job[];
