// Limits the size of a value before validation: a schema would check and report every item of an oversized array.
import type Joi from 'joi';

/** The oversized part and its limit. */
interface Oversized {
  path: (string | number)[];
  type: 'array.max' | 'object.max';
  limit: number;
}

/** Defaults for schemas without limits. */
const maxItems = 1000;
const maxKeys = 200;

interface Described {
  type: string;
  rules?: { name: string; args?: { limit?: unknown } }[];
  keys?: Record<string, Described>;
  items?: Described[];
}

const described = new WeakMap<Joi.Schema, Described>();

/** The first part of a value that exceeds its schema's limit, if any. */
export function findOversized(schema: Joi.Schema, value: unknown): Oversized | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  let description = described.get(schema);
  if (!description) described.set(schema, (description = schema.describe() as Described));
  return findIn(description, value, []);
}

function findIn(
  schema: Described | undefined,
  value: unknown,
  path: (string | number)[],
): Oversized | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return Array.isArray(value) ? checkItems(schema, value, path) : checkKeys(schema, value, path);
}

function checkItems(
  schema: Described | undefined,
  items: unknown[],
  path: (string | number)[],
): Oversized | undefined {
  const limit = limitOf(schema) ?? maxItems;
  if (items.length > limit) return { path, type: 'array.max', limit };
  const [item] = schema?.items ?? [];
  return first(items, (value, index) => findIn(item, value, [...path, index]));
}

function checkKeys(
  schema: Described | undefined,
  value: object,
  path: (string | number)[],
): Oversized | undefined {
  const names = Object.keys(value);
  const limit = (schema?.type === 'object' ? limitOf(schema) : undefined) ?? maxKeys;
  if (names.length > limit) return { path, type: 'object.max', limit };
  const fields = schema?.keys ?? {};
  return first(names, (name) =>
    findIn(Object.hasOwn(fields, name) ? fields[name] : undefined, (value as Record<string, unknown>)[name], [
      ...path,
      name,
    ]),
  );
}

function limitOf(schema: Described | undefined): number | undefined {
  const limit = schema?.rules?.find(({ name }) => name === 'max' || name === 'length')?.args?.limit;
  return typeof limit === 'number' ? limit : undefined;
}

function first<T>(
  values: T[],
  check: (value: T, index: number) => Oversized | undefined,
): Oversized | undefined {
  for (const [index, value] of values.entries()) {
    const excess = check(value, index);
    if (excess) return excess;
  }
  return undefined;
}
