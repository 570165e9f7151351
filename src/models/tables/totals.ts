// Exact totals of long lists, and figures of the dashboard, without reading the tables again after every write.
//
// A count is computed once and then updated (tally.ts). It is reused while the mark of its scope is unchanged, at most 2 s: so it is
// exact in every process, even if the writer died before announcing its change.
import { joinable } from '../../lib/context.js';
import { DatabaseTimeout } from '../../lib/database/errors.js';
import type { Where } from '../../lib/input/list-query.js';
import { isUnannounced } from '../../lib/redis/marks.js';
import { withTimeout } from '../../lib/with-timeout.js';
import type { Months } from './month-pages.js';
import type { Group, Groups } from './group.js';
import { Tally, type Base, type CountedTable, type Question } from './tally.js';
import type { Scope } from './versions.js';

const trustMs = 2000;
const maxKept = 2000;
/** Of searches, of which each keeps what it found. */
const maxFound = 50;
/** Max wait for a count, own or shared. */
const maxCountMs = 8000;

interface Kept {
  mark: string | undefined;
  checkedAt: number;
  base: Base;
  groups: Groups;
}

/** What belongs to one question. */
interface Slot {
  kept: Kept | undefined;
  /** How to join the count that is under way, and the one after it. */
  running: (() => Promise<Kept>) | undefined;
  next: (() => Promise<Kept>) | undefined;
}

export class Totals {
  /** Name of the mark; a list route reads it together with the session. */
  readonly scope: Scope;
  readonly #tally: Tally;
  readonly #alias: string;
  readonly #slots = new Map<string, Slot>();
  /** Slots with a group for each row. */
  readonly #found = new Map<string, Slot>();

  constructor(counted: CountedTable) {
    this.scope = counted.scope;
    this.#tally = new Tally(counted);
    this.#alias = counted.alias;
  }

  /**
   * The number of matching rows.
   *
   * @param mark the scope's mark as read at the start of the request
   */
  async count(where: Where, mark: string | undefined): Promise<number> {
    let total = 0;
    for (const { rows } of (await this.groups({ where }, mark)).values()) total += rows;
    return total;
  }

  /** How many rows match in each month; months without a row are left out. */
  async months(where: Where, mark: string | undefined): Promise<Months> {
    const groups = await this.groups({ where }, mark);
    return new Map([...groups].flatMap(([part, { rows }]) => (rows > 0 ? [[Number(part), rows]] : [])));
  }

  /** How many rows match in each group, and what their amounts come to. Groups without a row may be left out. */
  groups(question: Question, mark: string | undefined): Promise<ReadonlyMap<string, Group>> {
    return this.#groups(this.#slotOf(question, this.#slots, maxKept), question, mark);
  }

  /** Ids and months of the rows that match, of a table with months: for searches that find few. */
  async keys(where: Where, mark: string | undefined): Promise<{ id: number; period: number }[]> {
    const by = { sql: `CONCAT(${this.#alias}.id, ' ', ${this.#alias}.period)`, values: [] };
    const question = { where, by };
    const found = await this.#groups(this.#slotOf(question, this.#found, maxFound), question, mark);
    return [...found].flatMap(([key, { rows }]) => {
      const [id, period] = key.split(' ').map(Number) as [number, number];
      return rows > 0 ? [{ id, period }] : [];
    });
  }

  async #groups(slot: Slot, question: Question, mark: string | undefined): Promise<Groups> {
    const { kept } = slot;
    const isNews = mark === undefined || mark !== kept?.mark || isUnannounced(this.scope);
    if (kept && !isNews && performance.now() - kept.checkedAt < trustMs) return kept.groups;
    const asked = this.#ask(slot, question, mark);
    const late = () => new DatabaseTimeout(`counting ${this.scope} took longer than ${maxCountMs} ms`);
    return (await withTimeout(asked, maxCountMs, (_, reject) => reject(late()))).groups;
  }

  #slotOf({ where, by, amount }: Question, slots: Map<string, Slot>, most: number): Slot {
    const name = JSON.stringify([where.sql, where.values, by, amount]);
    const slot = slots.get(name) ?? { kept: undefined, running: undefined, next: undefined };
    slots.delete(name);
    slots.set(name, slot);
    if (slots.size > most) slots.delete(slots.keys().next().value as string);
    return slot;
  }

  // A running count may have started before the change that this caller must see; the next one sees it.
  #ask(slot: Slot, question: Question, mark: string | undefined): Promise<Kept> {
    const { running } = slot;
    if (!running) return this.#run(slot, question, mark);
    slot.next ??= joinable(async () => {
      await running().catch(() => undefined);
      slot.next = undefined;
      return this.#run(slot, question, mark);
    });
    return slot.next();
  }

  #run(slot: Slot, question: Question, mark: string | undefined): Promise<Kept> {
    const running = joinable(async () => {
      const checkedAt = performance.now();
      try {
        return (slot.kept = { mark, checkedAt, ...(await this.#tally.carryOn(slot.kept?.base, question)) });
      } finally {
        if (slot.running === running) slot.running = undefined;
      }
    });
    slot.running = running;
    return running();
  }
}
