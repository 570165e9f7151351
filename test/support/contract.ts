// Validates answers against the OpenAPI document of the service, which every test run writes anew.
import { readFileSync } from 'node:fs';
import Ajv from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

interface Response {
  $ref?: string;
}

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>;
}

const name = 'build/openapi.json';
const document = JSON.parse(readFileSync(name, 'utf8')) as Document;

// The document itself is held against the standard elsewhere. A schema is compiled for a few answers, which pays for no
// optimizing.
const ajv = new Ajv.default({
  ...{ strict: false, allErrors: true, validateSchema: false },
  ...{ inlineRefs: false, code: { optimize: false } },
});
addFormats.default(ajv).addFormat('decimal', true);
// Amounts are decimals: 0.29 is a multiple of 0.01, whatever their quotient is in binary.
ajv.removeKeyword('multipleOf').addKeyword({
  keyword: 'multipleOf',
  type: 'number',
  validate: (step: number, value: number) =>
    (String(value).split('.')[1] ?? '').length <= (String(step).split('.')[1] ?? '').length,
});
ajv.addSchema(document, name);

/**
 * Checks an answer of the service.
 *
 * @throws Error that says which member does not match the document
 */
export function mustMatchContract(method: string, path: string, status: number, body: unknown): void {
  const place = schemaPlace(pathOf(method, path), method.toLowerCase(), status);
  const validate = ajv.getSchema(name + place);
  if (!validate) throw new Error(`the document does not declare ${status} for ${method} ${path}`);
  if (validate(body)) return;
  throw new Error(
    `${method} ${path} ${status} departs from the document (a refusal belongs into \`fails\` of the route): ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`,
  );
}

// Answers shared by several operations are in the components.
function schemaPlace(path: string | undefined, method: string, status: number): string {
  if (path === undefined) return '#/components/schemas/Failure';
  const { $ref } = document.paths[path]?.[method]?.responses[status] ?? {};
  const place = ['paths', path, method, 'responses', String(status)];
  return `${$ref ?? `#/${place.map(escaped).join('/')}`}/content/application~1json/schema`;
}

const escaped = (part: string): string =>
  encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));

const patterns = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => ({
    path,
    pattern: new RegExp(`^${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '[^/]+')}$`),
  })),
);

/** The path in the document, with its placeholders; undefined when no operation has it. */
function pathOf(method: string, target: string): string | undefined {
  const [path = ''] = target.split('?');
  if (document.paths[path]?.[method.toLowerCase()]) return path;
  const called = `${method} ${path}`;
  return patterns.find(({ pattern }) => pattern.test(called))?.path;
}
