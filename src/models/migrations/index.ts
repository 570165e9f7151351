// Every migration, oldest first.
import { administration } from './0001-administration.js';
import { ordersAndPayments } from './0002-orders-and-payments.js';
import { logs } from './0003-logs.js';
import { backOffice } from './0004-back-office.js';
import { files } from './0005-files.js';
import { balancesExportsImports } from './0006-balances-exports-imports.js';
import { listIndexes } from './0007-list-indexes.js';
import { attachmentCharset } from './0008-attachment-charset.js';
import { exactLists } from './0010-exact-lists.js';
import { logOutbox } from './0011-log-outbox.js';
import { passwordChange } from './0012-password-change.js';
import { refusedCallbacks } from './0013-refused-callbacks.js';
import { seededMenus } from './0014-seeded-menus.js';
import { failedJobs } from './0015-failed-jobs.js';
import { boundedNotifications } from './0016-bounded-notifications.js';
import { keyChecks } from './0017-key-checks.js';
import { sealedCallbacks } from './0018-sealed-callbacks.js';
import { undeliveredNotifications } from './0019-undelivered-notifications.js';
import { paymentInstants } from './0020-payment-instants.js';
import { plainLists } from './0021-plain-lists.js';
import { directLogs } from './0022-direct-logs.js';
import { searchKeys } from './0023-search-keys.js';
import { callbackPaidAt } from './0024-callback-paid-at.js';
import { paymentAssignee } from './0025-payment-assignee.js';
import { paymentFollowUps } from './0026-payment-follow-ups.js';
import { refunds } from './0027-refunds.js';
import { operationRecord } from './0028-operation-record.js';
import { logIndexes } from './0029-log-indexes.js';
import { plainBalanceLogs } from './0030-plain-balance-logs.js';
import { timeIndexes } from './0031-time-indexes.js';
import { salesIndex } from './0032-sales-index.js';
import type { Migration } from './migration.js';

export const migrations: Migration[] = [
  administration,
  ordersAndPayments,
  logs,
  backOffice,
  files,
  balancesExportsImports,
  listIndexes,
  attachmentCharset,
  exactLists,
  logOutbox,
  passwordChange,
  refusedCallbacks,
  seededMenus,
  failedJobs,
  boundedNotifications,
  keyChecks,
  sealedCallbacks,
  undeliveredNotifications,
  paymentInstants,
  plainLists,
  directLogs,
  searchKeys,
  callbackPaidAt,
  paymentAssignee,
  paymentFollowUps,
  refunds,
  operationRecord,
  logIndexes,
  plainBalanceLogs,
  timeIndexes,
  salesIndex,
];
