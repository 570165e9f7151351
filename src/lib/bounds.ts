// Bounds the size of a value before its content is validated: a schema checks every item of an oversized array
// and reports each.
import type Joi from 'joi';

/** The oversized part and its limit. */
export interface Excess {
  path: (string | number)[];
  type: 'array.max' | 'object.max';
  limit: number;
}

/** Default limits where the schema has none. */
const maxItems = 1000;
const maxKeys = 200;

interface Described {
  type: string;
  rules?: { name: string; args?: { limit?: unknown } }[];
  keys?: Record<string, Described>;
  items?: Described[];
}

const described = new WeakMap<Joi.Schema, Described>();

/** The first place where a value holds more than its schema allows, if there is one. */
export function excessIn(schema: Joi.Schema, value: unknown): Excess | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  let description = described.get(schema);
  if (!description) described.set(schema, (description = schema.describe() as Described));
  return look(description, value, []);
}

function look(schema: Described | undefined, value: unknown, path: (string | number)[]): Excess | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return Array.isArray(value) ? lookAtItems(schema, value, path) : lookAtKeys(schema, value, path);
}

function lookAtItems(
  schema: Described | undefined,
  items: unknown[],
  path: (string | number)[],
): Excess | undefined {
  const limit = limitOf(schema) ?? maxItems;
  if (items.length > limit) return { path, type: 'array.max', limit };
  const [item] = schema?.items ?? [];
  return first(items, (value, index) => look(item, value, [...path, index]));
}

function lookAtKeys(
  schema: Described | undefined,
  value: object,
  path: (string | number)[],
): Excess | undefined {
  const names = Object.keys(value);
  const limit = (schema?.type === 'object' ? limitOf(schema) : undefined) ?? maxKeys;
  if (names.length > limit) return { path, type: 'object.max', limit };
  const fields = schema?.keys ?? {};
  return first(names, (name) =>
    look(Object.hasOwn(fields, name) ? fields[name] : undefined, (value as Record<string, unknown>)[name], [
      ...path,
      name,
    ]),
  );
}

function limitOf(schema: Described | undefined): number | undefined {
  const limit = schema?.rules?.find(({ name }) => name === 'max' || name === 'length')?.args?.limit;
  return typeof limit === 'number' ? limit : undefined;
}

function first<T>(values: T[], check: (value: T, index: number) => Excess | undefined): Excess | undefined {
  for (const [index, value] of values.entries()) {
    const excess = check(value, index);
    if (excess) return excess;
  }
  return undefined;
}
