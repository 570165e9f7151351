// Faults in importing orders.
import type { Fault } from './fault.js';

const run = 'src/models/imports/import-progress.ts';
const batch = 'src/models/imports/import-batch.ts';
const gathering = 'src/models/imports/order-gathering.ts';
const draft = 'src/models/imports/order-draft.ts';
const test = 'test/imports/imports.test.ts';
const centre = 'test/imports/import-centre.test.ts';

export const imports: Fault[] = [
  {
    file: run,
    from: `where: { id, position: from, status: 0 }`,
    to: `where: { id, status: 0 }`,
    breaks: 'two runs at once make orders twice',
    test: centre,
    match: 'two runs of one import*',
  },
  {
    file: run,
    from: `where: { id, position: from, status: 0 }`,
    to: `where: { id, position: from }`,
    breaks: 'a cancelled import continues',
    test: centre,
    match: 'a cancelled import stops',
  },
  {
    file: batch,
    from: `if (!dry_run && accepted.length > 0)`,
    to: `if (accepted.length > 0)`,
    breaks: 'a dry run makes orders',
    test,
    match: 'a dry run*',
  },
  {
    file: batch,
    from: `user.status === 1 ? undefined`,
    to: `user.status < 9 ? undefined`,
    breaks: 'a disabled user gets orders',
    test,
    match: 'every invalid value*',
  },
  {
    file: batch,
    from: `if (!user) return { row, ...given, reason: 'user_unknown' };`,
    to: `if (!user) return { row, ...given, reason: 'user_disabled' };`,
    breaks: 'an unknown user is reported as disabled',
    test,
    match: 'every invalid value*',
  },
  {
    file: batch,
    from: `quantity === 1 ? price : price.times(quantity)`,
    to: `quantity === 2 ? price : price.times(quantity)`,
    breaks: 'the subtotal of two pieces is that of one',
    test,
    match: 'rows become the same pending*',
  },
  {
    file: 'src/models/imports/import-run.ts',
    from: `      if (toSkip > 0) {`,
    to: `      if (toSkip < 0) {`,
    breaks: 'an interrupted import begins anew',
    test: 'test/faults/imports.test.ts',
    match: 'an import killed twice imports every valid row once',
  },
  {
    file: draft,
    from: `else if (given?.amount && !given.amount.equals(sum))`,
    to: `else if (given?.amount && given.amount.isNegative)`,
    breaks: 'an amount that is not the sum of the lines is imported',
    test,
    match: 'every invalid value*',
  },
  {
    file: draft,
    from: `if (value !== undefined && value !== valueOf(first))`,
    to: `if (value === null)`,
    breaks: 'rows of one order need not agree',
    test,
    match: 'an order with an invalid*',
  },
  {
    file: draft,
    from: `return own.length > 0 ? own : [innocent];`,
    to: `return own.length > 0 ? own : [{ ...innocent, row: 0 }];`,
    breaks: 'a good row of a refused order is reported at the wrong place',
    test,
    match: 'an order with an invalid*',
  },
  {
    file: gathering,
    from: `else if (scattered.has(ref)) this.#wait`,
    to: `else if (scattered.has('')) this.#wait`,
    breaks: 'scattered rows of one order become several orders',
    test,
    match: 'rows with the same order_ref*',
  },
  {
    file: gathering,
    from: `if (rows.length < expected) return;`,
    to: `if (rows.length < 2) return;`,
    breaks: 'a scattered order is made before all its rows are there',
    test,
    match: 'rows with the same order_ref*',
  },
  {
    file: gathering,
    from: `if (expected > maxLines) this.#ready`,
    to: `if (expected < 0) this.#ready`,
    breaks: 'an order may have more than 200 lines',
    test,
    match: 'an order has at most 200 lines',
  },
  {
    file: 'src/models/imports/order-sheet.ts',
    from: `number >= 1 && number <= maxQuantity`,
    to: `number >= 0 && number <= maxQuantity`,
    breaks: 'a quantity of zero is imported',
    test,
    match: 'every invalid value*',
  },
  {
    file: 'src/models/imports/order-sheet.ts',
    from: `return restore(cell).trim();`,
    to: `return cell;`,
    breaks: 'what an export neutralised stays neutralised',
    test,
    match: 'formulas are imported as text',
  },
  {
    file: 'src/models/imports/import.ts',
    from: `isSuperAdmin ? { deleted_at: null }`,
    to: `isSuperAdmin || adminId > 0 ? { deleted_at: null }`,
    breaks: 'an import is seen by others than its owner',
    test: centre,
  },
  {
    file: 'src/models/imports/import-error-file.ts',
    from: `if (found < expected) throw`,
    to: `if (found > expected) throw`,
    breaks: 'an error file lacks rows without a word',
    test,
    match: 'failed rows that expired are reported as missing',
  },
];
