// Examples of requests and answers, composed from those of their fields.
import type { Schema } from './json-schema.js';

/** An example of that schema. @param schemas the named ones of the document */
export function exampleOf(schema: Schema, schemas: Record<string, Schema>, seen: string[] = []): unknown {
  const inside = (part: unknown, also: string[] = []) =>
    exampleOf(part as Schema, schemas, [...seen, ...also]);
  const [first] = (schema.examples ?? schema.enum ?? []) as unknown[];
  if (first !== undefined) return first;
  if ('const' in schema) return schema.const;
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.split('/').at(-1) ?? '';
    return inside(schemas[name] ?? {}, [name]);
  }
  const [branch] = ((schema.oneOf ?? schema.anyOf ?? []) as Schema[]).filter(({ type }) => type !== 'null');
  if (branch) return inside(branch);
  if (schema.properties) {
    const properties = Object.entries(schema.properties as Record<string, Schema>);
    return Object.fromEntries(properties.map(([name, part]) => [name, inside(part)]));
  }
  if (schema.items) return isRecursive(schema.items as Schema, seen) ? [] : [inside(schema.items)];
  return plain(schema);
}

// A tree ends after its first level.
function isRecursive({ $ref }: Schema, seen: string[]): boolean {
  return typeof $ref === 'string' && seen.includes($ref.split('/').at(-1) ?? '');
}

function plain({ type, format, minimum }: Schema): unknown {
  switch ([type].flat()[0]) {
    case 'integer':
    case 'number':
      return minimum ?? 1;
    case 'boolean':
      return false;
    case 'array':
      return [];
    case 'object':
      return {};
    case 'string':
      return format === 'date-time' ? '2026-11-22T08:30:00.000Z' : 'text';
    default:
      return null;
  }
}
