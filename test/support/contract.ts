// Holds answers against the OpenAPI document the service serves.
import Ajv, { type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { openApiDocument } from '../../src/api/declare/openapi.js';
import { routes } from '../../src/api/routes.js';
import { fullPath, type Route } from '../../src/api/declare/route.js';

interface Response {
  $ref?: string;
}

type Document = Record<string, unknown> & {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>;
};

// The document itself is held against the standard elsewhere.
const ajv = new Ajv.default({ strict: false, allErrors: true, validateSchema: false });
addFormats.default(ajv).addFormat('decimal', true);
// Amounts are decimals: 0.29 is a multiple of 0.01, whatever their quotient is in binary.
ajv.removeKeyword('multipleOf').addKeyword({
  keyword: 'multipleOf',
  type: 'number',
  validate: (step: number, value: number) =>
    (String(value).split('.')[1] ?? '').length <= (String(step).split('.')[1] ?? '').length,
});

/**
 * Checks an answer of the service.
 *
 * @throws Error that says which member does not match the document
 */
export async function mustMatchContract(
  method: string,
  path: string,
  status: number,
  body: unknown,
): Promise<void> {
  const validate = await validatorOf(routeOf(method, path), status);
  if (validate(body)) return;
  throw new Error(
    `${method} ${path} ${status} departs from the document (a refusal belongs into \`fails\` of the route): ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`,
  );
}

interface Part {
  name: string;
  document: Document;
}

const parts = new Map<Route | undefined, Promise<Part>>();

/** The part of the document about a route is built with the first answer of that route. */
async function validatorOf(route: Route | undefined, status: number): Promise<ValidateFunction> {
  const known = parts.get(route) ?? partAbout(route);
  parts.set(route, known);
  const { name, document } = await known;
  const place = route ? schemaPlace(document, route, status) : '#/components/schemas/Failure';
  const validate = ajv.getSchema(name + place);
  if (!validate) throw new Error(`the document does not tell that ${route?.name} answers ${status}`);
  return validate;
}

async function partAbout(route: Route | undefined): Promise<Part> {
  const name = `document-${parts.size}`;
  const document = (await openApiDocument(route ? [route] : [])) as Document;
  ajv.addSchema(document, name);
  return { name, document };
}

// Answers that several operations have alike stand among the components.
function schemaPlace({ paths }: Document, route: Route, status: number): string {
  const place = ['paths', fullPath(route), route.method.toLowerCase(), 'responses', String(status)];
  const { $ref } = paths[fullPath(route)]?.[route.method.toLowerCase()]?.responses[status] ?? {};
  return `${$ref ?? `#/${place.map(escaped).join('/')}`}/content/application~1json/schema`;
}

const escaped = (part: string): string =>
  encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));

const patterns = routes.map((route) => ({
  route,
  pattern: new RegExp(`^${route.method} ${fullPath(route).replace(/\{\w+\}/g, '[^/]+')}$`),
}));

function routeOf(method: string, path: string): Route | undefined {
  const called = `${method} ${path.split('?')[0]}`;
  return patterns.find(({ pattern }) => pattern.test(called))?.route;
}
