// Holds answers against the OpenAPI document the service serves.
import Ajv, { type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { openApiDocument } from '../../src/api/declare/openapi.js';
import { routes } from '../../src/api/declare/routes.js';
import { fullPath, type Route } from '../../src/api/declare/route.js';

// The document itself is held against the standard elsewhere.
const ajv = new Ajv.default({ strict: false, allErrors: true, validateSchema: false });
addFormats.default(ajv);

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
    `${method} ${path} ${status} departs from the document: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`,
  );
}

const documents = new Map<Route | undefined, Promise<string>>();

/** The part of the document about a route is built with the first answer of that route. */
async function validatorOf(route: Route | undefined, status: number): Promise<ValidateFunction> {
  const known = documents.get(route) ?? partAbout(route);
  documents.set(route, known);
  const place = `${await known}${route ? schemaPlace(route, status) : '#/components/schemas/Failure'}`;
  const validate = ajv.getSchema(place);
  if (!validate) throw new Error(`the document has no schema at ${place}`);
  return validate;
}

async function partAbout(route: Route | undefined): Promise<string> {
  const name = `document-${documents.size}`;
  ajv.addSchema(await openApiDocument(route ? [route] : []), name);
  return name;
}

function schemaPlace(route: Route, status: number): string {
  const response = status === 200 ? '200' : 'default';
  const pointer = [
    'paths',
    fullPath(route),
    route.method.toLowerCase(),
    'responses',
    response,
    'content',
    'application/json',
    'schema',
  ];
  return `#/${pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;
}

const patterns = routes.map((route) => ({
  route,
  pattern: new RegExp(`^${route.method} ${fullPath(route).replace(/\{\w+\}/g, '[^/]+')}$`),
}));

function routeOf(method: string, path: string): Route | undefined {
  const called = `${method} ${path.split('?')[0]}`;
  return patterns.find(({ pattern }) => pattern.test(called))?.route;
}
