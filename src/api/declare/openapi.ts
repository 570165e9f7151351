// The OpenAPI 3.1 document of the service, derived from the route declarations (served at {host}/openapi.json).
import { setImmediate as nextTurn } from 'node:timers/promises';
import type Joi from 'joi';
import { config } from '../../../config/index.js';
import { idempotencyHeader } from './idempotency.js';
import { SchemaWriter, type Schema } from './json-schema.js';
import { fullPath, permissionOf, type Route, type UploadDeclaration } from './route.js';

/** Builds the document: about 0.2 s of work for all routes, in between which other requests are answered. */
export async function openApiDocument(routes: readonly Route[]): Promise<Schema> {
  const writer = new SchemaWriter();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    (paths[fullPath(route)] ??= {})[route.method.toLowerCase()] = operation(route, writer);
    await nextTurn();
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Back-office administration and payments',
      version: config.version,
      description:
        'Every answer is `{code, message, data, trace_id}`; failures add `error_code` and, for invalid input, `errors`. ' +
        'Times are UTC unless the request names a zone (`timezone` query parameter, `X-Timezone` or `Timezone` header). ' +
        'Messages are zh-CN or en-US by `Accept-Language`.',
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas: { Failure: failure, ...writer.schemas },
    },
  };
}

const failure: Schema = {
  type: 'object',
  required: ['code', 'message', 'data', 'error_code', 'trace_id'],
  properties: {
    code: { type: 'integer' },
    message: { type: 'string' },
    data: { type: 'null' },
    error_code: { type: 'string' },
    errors: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } },
    trace_id: { type: 'string' },
  },
  additionalProperties: false,
};

function operation(route: Route, writer: SchemaWriter): Schema {
  const permission = permissionOf(route);
  const needs = permission ? `Needs the permission \`${permission.slug}\`.` : '';
  return {
    operationId: route.name,
    tags: [route.host ? 'public' : (route.path.split('/')[1] ?? '')],
    summary: route.summary,
    description: [route.description, aliasesOf(route), needs].filter(Boolean).join(' '),
    ...(permission ? { 'x-permission': permission.slug } : {}),
    security: route.access === 'public' ? [] : [{ bearer: [] }],
    parameters: [
      ...parameters('path', route.params, writer),
      ...parameters('query', route.query, writer),
      ...ticket(route),
      ...headers(route),
    ],
    ...(route.body ? { requestBody: requestBody(route, writer) } : {}),
    responses: {
      200: { description: 'Success', content: successContent(route, writer) },
      default: {
        description: 'Failure',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
      },
    },
  };
}

function aliasesOf({ aliases = {} }: Route): string {
  return Object.entries(aliases)
    .map(([alias, field]) => `\`${alias}\` is accepted for \`${field}\`.`)
    .join(' ');
}

function requestBody(route: Route, writer: SchemaWriter): Schema {
  const types = ['application/json', ...(route.form ? ['application/x-www-form-urlencoded'] : [])];
  const schema = writer.input(route.body as Joi.ObjectSchema);
  const content: Schema = { schema, ...(route.example ? { example: route.example } : {}) };
  const byType = Object.fromEntries(types.map((type) => [type, content]));
  if (route.upload) byType['multipart/form-data'] = { schema: withFile(schema, route.upload) };
  return { required: true, content: byType };
}

function withFile(schema: Schema, { parts, required }: UploadDeclaration): Schema {
  const file = { type: 'string', contentMediaType: 'application/octet-stream' };
  const needed = [...((schema.required ?? []) as string[]), ...(required ? [parts[0]] : [])];
  return {
    ...schema,
    properties: { ...(schema.properties as Schema), [parts[0]]: file },
    ...(needed.length > 0 ? { required: needed } : {}),
  };
}

function successContent(route: Route, writer: SchemaWriter): Schema {
  if (route.reply === 'event-stream') return { 'text/event-stream': { schema: { type: 'string' } } };
  if (route.reply === 'file') return { 'application/octet-stream': {} };
  return { 'application/json': { schema: success(route.response && writer.output(route.response)) } };
}

function success(data: Schema | null): Schema {
  return {
    type: 'object',
    required: ['code', 'message', 'data', 'trace_id'],
    properties: {
      code: { const: 200 },
      message: { type: 'string' },
      data: data ?? { type: 'null' },
      trace_id: { type: 'string' },
    },
    additionalProperties: false,
  };
}

function parameters(
  place: 'path' | 'query',
  schema: Joi.ObjectSchema | undefined,
  writer: SchemaWriter,
): Schema[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = writer.input(schema) as {
    properties?: Record<string, Schema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, part]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: part,
  }));
}

function ticket(route: Route): Schema[] {
  const description = 'one-time ticket in place of the bearer token';
  return route.ticket ? [{ name: 'ticket', in: 'query', description, schema: { type: 'string' } }] : [];
}

function headers(route: Route): Schema[] {
  const own = { ...route.headers, ...(route.repeat ? idempotencyHeader : {}) };
  return Object.entries(own).map(([name, description]) => ({
    name,
    in: 'header',
    description,
    schema: { type: 'string' },
  }));
}
