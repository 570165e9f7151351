// Every planted fault, by subject: `node test/mutation/run.mjs settlement` plants those of one.
import { questions } from './asking.js';
import { balances } from './balances.js';
import { callbacks } from './callbacks.js';
import type { Fault } from './fault.js';
import { imports } from './imports.js';
import { lists } from './lists.js';
import { logs } from './logs.js';
import { notices } from './notices.js';
import { orders } from './orders.js';
import { payments } from './payments.js';
import { refunds } from './refunds.js';
import { results } from './results.js';
import { settlement } from './settlement.js';

const subjects = {
  settlement,
  callbacks,
  notices,
  questions,
  results,
  orders,
  payments,
  refunds,
  balances,
  imports,
  lists,
  logs,
};

export const faults: readonly (Fault & { subject: string })[] = Object.entries(subjects).flatMap(
  ([subject, planted]) => planted.map((fault) => ({ subject, ...fault })),
);
