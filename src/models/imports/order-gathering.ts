// Gathers the rows of a sheet into orders: rows with the same order_ref are one order, wherever they stand in the file.
//
// The file is read more than once, never kept. The first time its rows are counted, and how often each reference occurs; a
// reference that comes back after other rows is scattered. Then orders whose rows stand together pass straight through; rows
// of scattered ones are held until all are there. When too many are held, the orders that come next wait for another
// reading. So the memory needed does not depend on the file, and the orders of a file always come in the same sequence:
// an import that was interrupted goes on after those it has dealt with.
import { isBlank, type CsvBlock } from '../../lib/sheets/csv-source.js';
import { KeyCounter, type Slot } from '../../lib/key-counter.js';
import { oversizedDraft, draftOrder, maxLines, type OrderDraft } from './order-draft.js';
import { layoutOf, readRow, refOf, type Layout, type SheetRow } from './order-sheet.js';

/** Reads the file from its start. */
export type Reading = () => AsyncIterable<CsvBlock>;

/** What is known of a file after it was read once. */
export interface Survey {
  layout: Layout;
  /** Rows below the head that are not blank. */
  rows: number;
  occurrences: KeyCounter;
}

const maxHeld = 20_000;

/** Reads the file once. With more rows than `limit` it stops there. */
export async function survey(read: Reading, limit: number): Promise<Survey> {
  const occurrences = new KeyCounter();
  let layout: Layout | undefined;
  let rows = 0;
  for await (const { records } of read()) {
    for (const record of records) {
      if (isBlank(record)) continue;
      if (!layout) {
        layout = layoutOf(record);
        continue;
      }
      rows++;
      const ref = refOf(record, layout);
      if (ref === '') occurrences.interrupt();
      else occurrences.add(ref);
    }
    if (rows > limit) break;
  }
  return { layout: layout ?? layoutOf([]), rows, occurrences };
}

/** All orders of the file, always in the same sequence, some at a time. */
export async function* gather(read: Reading, known: Survey, unnamed: string): AsyncGenerator<OrderDraft[]> {
  const gathering = new Gathering(known, unnamed);
  do {
    yield* gathering.pass(read());
  } while (gathering.needsAnotherPass);
}

class Gathering {
  needsAnotherPass = false;
  readonly #layout: Layout;
  readonly #occurrences: KeyCounter;
  readonly #unnamed: string;
  #isFirst = true;
  #together: SheetRow[] = [];
  readonly #held = new Map<string, SheetRow[]>();
  #room = maxHeld;
  #ready: OrderDraft[] = [];

  constructor({ layout, occurrences }: Survey, unnamed: string) {
    this.#layout = layout;
    this.#occurrences = occurrences;
    this.#unnamed = unnamed;
  }

  async *pass(blocks: AsyncIterable<CsvBlock>): AsyncGenerator<OrderDraft[]> {
    this.needsAnotherPass = false;
    let isHead = true;
    for await (const { row, records } of blocks) {
      for (const [index, record] of records.entries()) {
        if (isBlank(record)) continue;
        if (!isHead) this.#take(record, row + index);
        isHead = false;
      }
      yield this.#given();
    }
    this.#endTogether();
    // Only two references of the same hash leave rows here that were thought to be fewer than expected.
    for (const [ref, rows] of this.#held) this.#release(ref, rows, this.#occurrences.find(ref));
    yield this.#given();
    this.#isFirst = false;
  }

  #given(): OrderDraft[] {
    const given = this.#ready;
    this.#ready = [];
    return given;
  }

  #take(cells: string[], row: number): void {
    const ref = refOf(cells, this.#layout);
    const slot = ref === '' ? undefined : this.#occurrences.find(ref);
    if (
      slot !== undefined &&
      this.#occurrences.count(slot) <= maxLines &&
      this.#occurrences.isScattered(slot)
    ) {
      this.#endTogether();
      this.#hold(ref, slot, cells, row);
      return;
    }
    if (!this.#isFirst) return;
    if (slot === undefined || ref !== this.#together[0]?.ref) this.#endTogether();
    const read = readRow(cells, row, this.#layout);
    if (slot !== undefined && this.#occurrences.count(slot) > maxLines)
      this.#ready.push(oversizedDraft(read));
    else this.#together.push(read);
  }

  #endTogether(): void {
    if (this.#together.length === 0) return;
    this.#ready.push(draftOrder(this.#together, this.#unnamed));
    this.#together = [];
  }

  #hold(ref: string, slot: Slot, cells: string[], row: number): void {
    const expected = this.#occurrences.count(slot);
    const held = this.#held.get(ref) ?? [];
    if (held.length === 0) {
      if (this.#occurrences.isSettled(slot)) return;
      // After skipping an order, start no new one: a later row may not be the first of its order.
      this.needsAnotherPass ||= expected > this.#room;
      if (this.needsAnotherPass) return;
      this.#room -= expected;
      this.#held.set(ref, held);
    }
    held.push(readRow(cells, row, this.#layout));
    if (held.length === expected) this.#release(ref, held, slot);
  }

  #release(ref: string, rows: SheetRow[], slot: Slot): void {
    this.#held.delete(ref);
    this.#room += this.#occurrences.count(slot);
    this.#occurrences.settle(slot);
    this.#ready.push(draftOrder(rows, this.#unnamed));
  }
}
