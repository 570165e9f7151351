// Writes src/contract/generated/ from the OpenAPI document: types of every route, permissions, rules of bodies, amounts,
// configurations of payment channels.
// `node console/build/contract.mjs <document>`
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString, NULL, STRING, tsUnion } from 'openapi-typescript';

const folder = fileURLToPath(new URL('../src/contract/generated/', import.meta.url));
const document = JSON.parse(readFileSync(process.argv[2], 'utf8'));

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    type: `paths['${path}']['${method}']`,
    operation,
  })),
);

// The page keeps the digits of an amount as text.
const amounts = new Set();
const isAmount = ({ type, multipleOf }) => [type].flat().includes('number') && multipleOf === 0.01;

function collectAmounts(node, name) {
  if (typeof node !== 'object' || node === null) return;
  if (isAmount(node) && !/^\d+$/.test(name)) amounts.add(name);
  for (const [key, part] of Object.entries(node)) collectAmounts(part, key === 'properties' ? name : key);
}

collectAmounts(document, '');

const ast = await openapiTS(document, {
  transform: (schema) =>
    isAmount(schema) ? ([schema.type].flat().includes('null') ? tsUnion([STRING, NULL]) : STRING) : undefined,
});

const named = (reference) => document.components.schemas[reference.split('/').at(-1)];

const bodyOf = (operation) => whole(operation.requestBody?.content?.['application/json']?.schema);

// One of several kinds needs what all of them need.
function whole(schema) {
  if (schema?.$ref) return whole(named(schema.$ref));
  if (!schema?.oneOf) return schema;
  const kinds = schema.oneOf.map(whole);
  return {
    properties: Object.assign({}, ...kinds.map(({ properties }) => properties)),
    required: (kinds[0]?.required ?? []).filter((key) =>
      kinds.every(({ required = [] }) => required.includes(key)),
    ),
  };
}

const rulesOf = ({ required = [], properties = {} }) => ({
  required,
  max: Object.fromEntries(
    Object.entries(properties)
      .filter(([, part]) => part.maxLength)
      .map(([key, part]) => [key, part.maxLength]),
  ),
});

// Keys of each channel's configuration, from the schema of a new payment method.
const channelKeys = ({ required = [], properties }) =>
  Object.entries(properties).map(([name, key]) => ({
    name,
    description: key.description ?? name,
    isRequired: required.includes(name),
    isSecret: key.writeOnly === true,
    isPem: key.contentMediaType === 'application/x-pem-file',
    max: key.maxLength,
  }));
const { mapping } = document.components.schemas.NewPaymentMethod.discriminator;
const channels = Object.fromEntries(
  Object.entries(mapping).map(([type, reference]) => [type, channelKeys(named(reference).properties.config)]),
);

const permissionOf = (operation) =>
  operation['x-permission'] ??
  /Needs the permission `([^`]+)`/.exec(operation.description ?? '')?.[1] ??
  null;

const entries = (make) =>
  operations
    .map((one) => make(one))
    .filter(Boolean)
    .join('\n');

mkdirSync(folder, { recursive: true });
writeFileSync(`${folder}schema.d.ts`, astToString(ast));
writeFileSync(
  `${folder}routes.ts`,
  `// Generated from the OpenAPI document.
import type { paths } from './schema';

/** Every operation by method and path. */
export interface Routes {
${entries(({ name, type }) => `  '${name}': ${type};`)}
}

/** The permission each operation needs; null: none. */
export const permissions: Record<keyof Routes, string | null> = {
${entries(({ name, operation }) => `  '${name}': ${JSON.stringify(permissionOf(operation))},`)}
};

/** Fields of answers that are amounts. */
export const amounts: ReadonlySet<string> = new Set(${JSON.stringify([...amounts].sort())});
`,
);
writeFileSync(
  `${folder}bodies.ts`,
  `// Generated from the OpenAPI document.

/** What each body needs, and how long its texts may be. */
export const bodies: Record<string, { required: readonly string[]; max: Readonly<Record<string, number>> }> = {
${entries(({ name, operation }) => {
  const body = bodyOf(operation);
  return body?.properties && `  '${name}': ${JSON.stringify(rulesOf(body))},`;
})}
};
`,
);
writeFileSync(
  `${folder}channels.ts`,
  `// Generated from the OpenAPI document.

export interface ChannelKey {
  name: string;
  description: string;
  isRequired: boolean;
  /** Written, never answered. */
  isSecret: boolean;
  isPem: boolean;
  max?: number;
}

/** What the configuration of each payment channel is made of. */
export const channels: Readonly<Record<string, readonly ChannelKey[]>> = ${JSON.stringify(channels)};
`,
);
