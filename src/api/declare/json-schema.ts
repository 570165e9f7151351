// JSON Schemas out of Joi's: Joi's own conversion, with the names, formats and examples that Joi does not convert laid over it.
import Joi from 'joi';

export type Schema = Record<string, unknown>;

interface Notes {
  /** Name of the schema in the document. */
  name?: string;
  /** Keywords that no rule of Joi stands for. */
  keywords?: Schema;
  /** What stands in the document in place of the checking schema. */
  documented?: Joi.Schema;
}

/** Gives a schema its name in the document; generated clients call its type that. */
export const named = <T extends Joi.Schema>(name: string, schema: T): T =>
  schema.meta({ name } satisfies Notes) as T;

/** Adds JSON Schema keywords for what is checked by a function, such as `format`. */
export const keywords = <T extends Joi.Schema>(schema: T, keywords: Schema): T =>
  schema.meta({ keywords } satisfies Notes) as T;

/** Documents a schema as another one that says more, where the check itself is made elsewhere. */
export const documentedAs = <T extends Joi.Schema>(schema: T, documented: Joi.Schema): T =>
  schema.meta({ documented } satisfies Notes) as T;

type Converted = Joi.Schema & {
  '~standard': { jsonSchema: Record<'input' | 'output', (options: object) => Schema> };
};

/** The part of `describe()` that is read here. */
interface Told {
  metas?: Notes[];
  examples?: unknown[];
  allow?: unknown[];
  keys?: Record<string, Told>;
  items?: Told[];
  matches?: { schema?: Told }[];
  patterns?: { rule: Told }[];
  shared?: Told[];
  flags?: { id?: string };
}

/** One conversion: for callers' input or the service's output, with what Joi put under `$defs`. */
interface Conversion {
  direction: 'input' | 'output';
  defs: Record<string, Schema>;
}

/** Converts schemas of one document and gathers those that have a name. */
export class SchemaWriter {
  /** By name: `components.schemas` of the document. */
  readonly schemas: Record<string, Schema> = {};

  /** What callers send. */
  input(schema: Joi.Schema): Schema {
    return this.#convert(schema, 'input');
  }

  /** What the service answers. */
  output(schema: Joi.Schema): Schema {
    return this.#convert(schema, 'output');
  }

  #convert(schema: Joi.Schema, direction: 'input' | 'output'): Schema {
    const standard = (schema as Converted)['~standard'].jsonSchema[direction];
    const { $defs = {}, ...converted } = standard({ target: 'draft-2020-12' });
    return this.#lay(schema.describe(), converted, { direction, defs: $defs as Conversion['defs'] });
  }

  #lay(told: Told, converted: Schema, conversion: Conversion): Schema {
    const { name, keywords, documented } = Object.assign({}, ...(told.metas ?? [])) as Notes;
    if (documented) return this.#convert(documented, conversion.direction);
    for (const { flags, ...shared } of told.shared ?? []) {
      const id = flags?.id ?? '';
      this.#name(id, this.#lay(shared, conversion.defs[id] ?? {}, conversion));
    }
    const full = { ...this.#members(told, converted, conversion), ...keywords };
    if (told.examples) full.examples = told.examples;
    if (name === undefined) return full;
    const isNullable = told.allow?.includes(null) ?? false;
    const reference = this.#name(name, isNullable ? withoutNull(full) : full);
    return isNullable ? { anyOf: [reference, { type: 'null' }] } : reference;
  }

  #members(told: Told, converted: Schema, conversion: Conversion): Schema {
    const lay = (part: Told, schema: unknown) => this.#lay(part, schema as Schema, conversion);
    const full = { ...converted };
    if (typeof full.$ref === 'string') full.$ref = full.$ref.replace('#/$defs/', '#/components/schemas/');
    if (told.keys && full.properties) full.properties = mapped(full.properties as Schema, told.keys, lay);
    const [item] = told.items ?? [];
    if (item && told.items?.length === 1 && full.items) full.items = lay(item, full.items);
    const [pattern] = told.patterns ?? [];
    if (pattern && full.additionalProperties)
      full.additionalProperties = lay(pattern.rule, full.additionalProperties);
    const parts = (told.matches ?? []).flatMap(({ schema }) => schema ?? []);
    for (const kind of ['anyOf', 'oneOf']) {
      if (full[kind] && parts.length > 0) full[kind] = branched(full[kind] as Schema[], parts, lay);
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

function mapped(
  properties: Schema,
  keys: Record<string, Told>,
  lay: (part: Told, schema: unknown) => Schema,
): Schema {
  return Object.fromEntries(
    Object.entries(properties).map(([key, schema]) => [key, keys[key] ? lay(keys[key], schema) : schema]),
  );
}

function branched(branches: Schema[], parts: Told[], lay: (part: Told, schema: unknown) => Schema): Schema[] {
  // An allowed null stands before the branches.
  const ahead = branches.length - parts.length;
  return branches.map((branch, index) => {
    const part = parts[index - ahead];
    return part ? lay(part, branch) : branch;
  });
}

// Joi writes the cases of a `when` as `anyOf`, also when there is one.
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
