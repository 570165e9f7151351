// JSON Schemas from Joi schemas: Joi's own conversion, plus names, formats and examples it does not convert.
import type Joi from 'joi';
import type { Notes } from '../../lib/input/schema.js';
import { vocabulary } from './vocabulary.js';

export type Schema = Record<string, unknown>;

type Converted = Joi.Schema & {
  '~standard': { jsonSchema: Record<'input' | 'output', (options: object) => Schema> };
};

/** The part of `describe()` used here. */
interface Description {
  metas?: Notes[];
  examples?: unknown[];
  allow?: unknown[];
  keys?: Record<string, Description>;
  items?: Description[];
  matches?: { schema?: Description }[];
  patterns?: { rule: Description }[];
  shared?: Description[];
  flags?: { id?: string; description?: string };
}

/** One conversion: of input or output, with Joi's `$defs`. */
interface Conversion {
  direction: 'input' | 'output';
  defs: Record<string, Schema>;
}

/** Converts the schemas of a document and collects named ones. */
export class SchemaWriter {
  /** By name: `components.schemas` of the document. */
  readonly schemas: Record<string, Schema>;

  /** @param schemas existing ones */
  constructor(schemas: Record<string, Schema>) {
    this.schemas = { ...schemas };
  }

  /** Input of callers. */
  input(schema: Joi.Schema): Schema {
    return this.#convert(schema, 'input');
  }

  /** Output of the service. */
  output(schema: Joi.Schema): Schema {
    return this.#convert(schema, 'output');
  }

  #convert(schema: Joi.Schema, direction: 'input' | 'output'): Schema {
    const standard = (schema as Converted)['~standard'].jsonSchema[direction];
    const { $defs = {}, ...converted } = standard({ target: 'draft-2020-12' });
    return this.#annotate(schema.describe(), converted, { direction, defs: $defs as Conversion['defs'] });
  }

  #annotate(described: Description, converted: Schema, conversion: Conversion): Schema {
    const { name, keywords, documented } = Object.assign({}, ...(described.metas ?? [])) as Notes;
    if (documented) return { ...this.#convert(documented(), conversion.direction), ...wordsOf(described) };
    for (const { flags, ...shared } of described.shared ?? []) {
      const id = flags?.id ?? '';
      this.#name(id, this.#annotate(shared, conversion.defs[id] ?? {}, conversion));
    }
    const full = { ...this.#members(described, converted, conversion), ...keywords };
    if (name === undefined) return { ...full, ...wordsOf(described) };
    const isNullable = described.allow?.includes(null) ?? false;
    const reference = this.#name(name, isNullable ? withoutNull(full) : full);
    return { ...(isNullable ? { anyOf: [reference, { type: 'null' }] } : reference), ...wordsOf(described) };
  }

  #members(described: Description, converted: Schema, conversion: Conversion): Schema {
    const annotate = (part: Description, schema: unknown) =>
      this.#annotate(part, schema as Schema, conversion);
    const full = { ...converted };
    if (typeof full.$ref === 'string') full.$ref = full.$ref.replace('#/$defs/', '#/components/schemas/');
    // Joi says by the type alone that null is allowed beside fixed values.
    if (Array.isArray(full.enum) && [full.type].flat().includes('null'))
      full.enum = [...(full.enum as unknown[]), null];
    // A RegExp escapes slashes in its source; generators of clients would escape them once more.
    if (typeof full.pattern === 'string') full.pattern = full.pattern.replaceAll('\\/', '/');
    if (described.keys && full.properties)
      full.properties = mapped(full.properties as Schema, described.keys, annotate);
    const [item] = described.items ?? [];
    if (item && described.items?.length === 1 && full.items) full.items = annotate(item, full.items);
    const [pattern] = described.patterns ?? [];
    if (pattern && full.additionalProperties)
      full.additionalProperties = annotate(pattern.rule, full.additionalProperties);
    const parts = (described.matches ?? []).flatMap(({ schema }) => schema ?? []);
    if (Array.isArray(full.anyOf)) full.anyOf = full.anyOf.map((branch) => typed(branch as Schema));
    for (const kind of ['anyOf', 'oneOf']) {
      if (full[kind] && parts.length > 0) full[kind] = branched(full[kind] as Schema[], parts, annotate);
    }
    return unwrapped(full);
  }

  #name(name: string, schema: Schema): Schema {
    const known = this.schemas[name];
    if (known && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`two schemas of the document are called ${name}`);
    this.schemas[name] = schema;
    return { $ref: `#/components/schemas/${name}` };
  }
}

// A property has its own description, or that of the vocabulary.
function mapped(
  properties: Schema,
  keys: Record<string, Description>,
  annotate: (part: Description, schema: unknown) => Schema,
): Schema {
  const annotated = Object.entries(keys).map(([key, described]) => {
    const [description, example] = vocabulary[key] ?? [];
    const schema = annotate(described, properties[key]);
    const words = description === undefined ? {} : { description };
    return [key, { ...words, ...withExample(schema, example) }];
  });
  return Object.fromEntries(annotated) as Schema;
}

function wordsOf({ flags, examples }: Description): Schema {
  return {
    ...(flags?.description ? { description: flags.description } : {}),
    ...(examples ? { examples } : {}),
  };
}

// The vocabulary's example is omitted where it does not fit: for fixed values or another type.
function withExample(schema: Schema, example: unknown): Schema {
  const has = schema.examples ?? schema.enum ?? schema.const ?? schema.$ref;
  return example === undefined || has !== undefined || !fits(example, schema)
    ? schema
    : { ...schema, examples: [example] };
}

function fits(example: unknown, { type, anyOf }: Schema): boolean {
  if (Array.isArray(anyOf)) return anyOf.some((branch) => fits(example, branch as Schema));
  const types = [type].flat();
  if (example === null) return types.includes('null');
  return types.includes(jsonType(example)) || (types.includes('integer') && Number.isInteger(example));
}

const jsonType = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value);

function branched(
  branches: Schema[],
  parts: Description[],
  annotate: (part: Description, schema: unknown) => Schema,
): Schema[] {
  // An allowed null comes before the branches.
  const ahead = branches.length - parts.length;
  return branches.map((branch, index) => {
    const part = parts[index - ahead];
    return part ? annotate(part, branch) : branch;
  });
}

// Joi gives no type to values beside those of another type, such as '' beside numbers.
function typed(branch: Schema): Schema {
  const [type, ...others] = new Set(((branch.enum ?? []) as unknown[]).map(jsonType));
  return branch.type === undefined && type && others.length === 0 ? { type, ...branch } : branch;
}

// Joi writes the cases of a `when` as `anyOf`, even a single one.
function unwrapped(schema: Schema): Schema {
  const { anyOf, ...rest } = schema;
  return Array.isArray(anyOf) && anyOf.length === 1 ? { ...rest, ...(anyOf[0] as Schema) } : schema;
}

function withoutNull({ type, ...rest }: Schema): Schema {
  if (Array.isArray(type)) {
    const types = type.filter((one) => one !== 'null');
    return { type: types.length === 1 ? types[0] : types, ...rest };
  }
  return type === undefined ? rest : { type, ...rest };
}
