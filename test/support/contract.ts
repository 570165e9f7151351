// Holds answers against the OpenAPI document the service serves.
import Ajv from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { openApiDocument } from '../../src/api/declare/openapi.js';
import { routes } from '../../src/api/declare/routes.js';
import { fullPath, type Route } from '../../src/api/declare/route.js';

const document = openApiDocument(routes) as {
  paths: Record<
    string,
    Record<string, { responses: Record<string, { content: Record<string, { schema: object }> }> }>
  >;
};

const ajv = new Ajv.default({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(document, 'document');

/**
 * Checks an answer of the service.
 *
 * @throws Error that says which member does not match the document
 */
export function mustMatchContract(method: string, path: string, status: number, body: unknown): void {
  const route = routeOf(method, path);
  const place = route ? schemaPlace(route, status) : '#/components/schemas/Failure';
  const validate = ajv.getSchema(`document${place}`);
  if (!validate) throw new Error(`the document has no schema at ${place}`);
  if (validate(body)) return;
  throw new Error(
    `${method} ${path} ${status} departs from the document: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`,
  );
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
