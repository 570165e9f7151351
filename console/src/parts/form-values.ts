// What a form holds: what it begins with, what of it is sent, and what somebody else has changed meanwhile.
import type { Field } from './fields.tsx';
import type { AnyRow } from './resource.ts';

export type Fields = Readonly<Record<string, Field>>;

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

/** What the controls begin with: the row that is changed, else the initial value of each. */
export function initialOf(fields: Fields, row: AnyRow | undefined): AnyRow {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, beginning(field, name, row)]),
  );
}

function beginning(field: Field, name: string, row: AnyRow | undefined): unknown {
  if (!row) return field.initial;
  if (field.isSecret) return undefined;
  return field.from ? field.from(row) : (row[name] ?? undefined);
}

/** The body of something new: what was filled in. */
export const given = (values: AnyRow): AnyRow =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== '' && value !== null),
  );

/** The body of a change: what differs, and what the contract demands in any case. An emptied field is sent as null: that clears it. */
export const changed = (values: AnyRow, base: AnyRow, required: readonly string[] = []): AnyRow =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([name, value]) => required.includes(name) || !isSame(value, base[name]))
      .map(([name, value]) => [name, value === undefined ? null : value]),
  );

/** A form laid upon a newer row. */
export interface Rebased {
  /** For the fields nobody has touched here. */
  taken: AnyRow;
  /** Fields that were changed here and there, differently. */
  conflicts: string[];
}

/** @param base what the form began with @param latest what it would begin with now */
export function rebase(values: AnyRow, base: AnyRow, latest: AnyRow): Rebased {
  const moved = Object.keys(latest).filter((name) => !isSame(latest[name], base[name]));
  const isTouched = (name: string) => !isSame(values[name], base[name]);
  return {
    taken: Object.fromEntries(moved.filter((name) => !isTouched(name)).map((name) => [name, latest[name]])),
    conflicts: moved.filter((name) => isTouched(name) && !isSame(values[name], latest[name])),
  };
}
