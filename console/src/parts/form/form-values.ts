// Values of a form: initial ones, those to send, and those changed concurrently.
import type { AnyRow } from '../resource.ts';
import type { Field } from './fields.tsx';

export type Fields = Readonly<Record<string, Field>>;

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

/** The initial values: of the row, or of each field. */
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

/** The body of a create: the filled fields. */
export const given = (values: AnyRow): AnyRow =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== '' && value !== null),
  );

/**
 * The body of an update: changed fields, and those the contract requires. An emptied field is sent as null,
 * which clears it.
 */
export const changed = (values: AnyRow, base: AnyRow, required: readonly string[] = []): AnyRow =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([name, value]) => required.includes(name) || !isSame(value, base[name]))
      .map(([name, value]) => [name, value === undefined ? null : value]),
  );

/** The fields that differ from those the form began with. */
export const touched = (values: AnyRow, base: AnyRow): AnyRow =>
  Object.fromEntries(Object.entries(values).filter(([name, value]) => !isSame(value, base[name])));

/** A form rebased onto a newer row. */
export interface Rebased {
  /** Values of untouched fields. */
  taken: AnyRow;
  /** Fields changed differently here and there. */
  conflicts: string[];
}

/**
 * @param base initial values of the form
 * @param latest initial values it would have now
 */
export function rebase(values: AnyRow, base: AnyRow, latest: AnyRow): Rebased {
  const moved = Object.keys(latest).filter((name) => !isSame(latest[name], base[name]));
  const isTouched = (name: string) => !isSame(values[name], base[name]);
  return {
    taken: Object.fromEntries(moved.filter((name) => !isTouched(name)).map((name) => [name, latest[name]])),
    conflicts: moved.filter((name) => isTouched(name) && !isSame(values[name], latest[name])),
  };
}
