// The OpenAPI 3.1 document of the service, derived from the route declarations (served at {host}/openapi.json).
import { setImmediate as nextTurn } from 'node:timers/promises';
import type Joi from 'joi';
import { config } from '../../../config/index.js';
import { exampleOf } from './example.js';
import { failureSchemas, FailureWriter } from './failures.js';
import { introduction } from './introduction.js';
import { SchemaWriter, type Schema } from './json-schema.js';
import { parametersOf, sharedParameters } from './parameters.js';
import { fullPath, permissionOf, type Route, type UploadDeclaration } from './route.js';
import { tagOf, tags } from './tags.js';

/** Builds the document in about 0.2 s, yielding to other requests. */
export async function openApiDocument(routes: readonly Route[]): Promise<Schema> {
  const writer = new SchemaWriter(failureSchemas);
  const failures = new FailureWriter();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    (paths[fullPath(route)] ??= {})[route.method.toLowerCase()] = operation(route, writer, failures);
    await nextTurn();
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Back-office administration and payments',
      version: config.version,
      description: introduction(),
      contact: { name: 'The operator of this service', url: config.app.url },
      license: { name: 'Not licensed for use by others', identifier: 'LicenseRef-UNLICENSED' },
    },
    servers: [{ url: config.app.url, description: 'This service' }],
    tags: tags(routes),
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      parameters: sharedParameters(writer),
      responses: failures.responses,
      schemas: writer.schemas,
    },
  };
}

function operation(route: Route, writer: SchemaWriter, failures: FailureWriter): Schema {
  const permission = permissionOf(route);
  const needs = permission ? `Needs the permission \`${permission.slug}\`.` : '';
  return {
    operationId: route.name,
    tags: [tagOf(route)],
    summary: route.summary,
    description: [route.description ?? `${route.summary}.`, aliasesOf(route), needs]
      .filter(Boolean)
      .join(' '),
    ...(permission ? { 'x-permission': permission.slug } : {}),
    security: route.access === 'public' ? [] : [{ bearer: [] }],
    parameters: parametersOf(route, writer),
    ...(route.body || route.upload ? { requestBody: requestBody(route, writer) } : {}),
    responses: {
      200: { description: 'Success', content: { ...successContent(route, writer), ...plainContent(route) } },
      ...emptyAnswers(route),
      ...fileAnswers(route),
      ...failures.answersOf(route),
    },
  };
}

function aliasesOf({ aliases = {} }: Route): string {
  return Object.entries(aliases)
    .map(([alias, field]) => `\`${alias}\` is accepted for \`${field}\`.`)
    .join(' ');
}

function requestBody({ body, form, upload, example }: Route, writer: SchemaWriter): Schema {
  const byType: Schema = {};
  if (body && !upload?.required) {
    const schema = writer.input(body);
    const content = { schema, example: example ?? exampleOf(schema, writer.schemas) };
    byType['application/json'] = content;
    if (form) byType['application/x-www-form-urlencoded'] = content;
  }
  if (upload) byType['multipart/form-data'] = { schema: formOf(upload, body, writer) };
  return { required: true, content: byType };
}

function formOf(
  { parts: [part], required, fields }: UploadDeclaration,
  body: Joi.ObjectSchema | undefined,
  writer: SchemaWriter,
): Schema {
  const schema = fields ? writer.input(fields) : body ? writer.input(body) : { type: 'object' };
  const needed = [...((schema.required ?? []) as string[]), ...(required || fields ? [part] : [])];
  return {
    ...schema,
    properties: { ...(schema.properties as Schema), [part]: { ...binary, description: 'The file' } },
    ...(needed.length > 0 ? { required: needed } : {}),
  };
}

const binary = { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' };

/** A file has a media type of its own. */
const anyFile = { '*/*': { schema: binary } };

function successContent(route: Route, writer: SchemaWriter): Schema {
  const schema = route.response && writer.output(route.response);
  if (route.reply === 'event-stream') {
    const example = 'data: {"type":"connected","data":null,"timestamp":"2026-11-22T08:30:00.000Z"}\n\n';
    return {
      'text/event-stream': { schema: { type: 'string', description: 'Server-sent events' }, example },
    };
  }
  if (route.reply === 'file') return anyFile;
  const whole = success(schema);
  return { 'application/json': { schema: whole, example: exampleOf(whole, writer.schemas) } };
}

function plainContent({ plainAnswers = [] }: Route): Schema {
  const texts = plainAnswers.filter(({ answer }) => answer.status === 200);
  const contents = texts.map(({ answer: { text }, description }) => [
    'text/plain',
    { schema: { type: 'string', const: text, description }, example: text },
  ]);
  return Object.fromEntries(contents) as Schema;
}

function emptyAnswers({ plainAnswers = [] }: Route): Schema {
  const empty = plainAnswers.filter(({ answer }) => answer.status === 204);
  return Object.fromEntries(empty.map(({ description }) => [204, { description }])) as Schema;
}

function fileAnswers({ reply }: Route): Schema {
  if (reply !== 'file') return {};
  return {
    206: { description: 'The part of the file that `Range` names', content: anyFile },
    302: { description: 'To the file in the store, where that serves downloads itself' },
    304: { description: 'The file is the one whose `ETag` is in `If-None-Match`' },
  };
}

function success(data: Schema | undefined): Schema {
  return {
    type: 'object',
    required: ['code', 'message', 'data', 'trace_id'],
    properties: {
      code: { type: 'integer', const: 200, description: 'Success' },
      message: { type: 'string', description: 'Text for people', examples: ['success'] },
      data: { description: data ? 'The answer' : 'Nothing', ...(data ?? { type: 'null' }) },
      trace_id: {
        type: 'string',
        description: 'Identifies the request in logs',
        examples: ['01JDAV3Q8W5Z8N4M6K2T9R7C1E'],
      },
    },
    additionalProperties: false,
  };
}
