// The OpenAPI document and the page that shows it.
import '../support/shared-environment.js';
import Ajv from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import test from 'ava';
import { routes } from '../../src/api/routes.js';
import { fullPath } from '../../src/api/declare/route.js';
import { openStream } from '../support/events.js';
import { unique } from '../support/factories.js';
import { service } from '../support/shared-service.js';

test('the documentation page loads from this host only', async (t) => {
  const loaded = async (path: string) => {
    const response = await fetch(service.url + path);
    t.is(response.status, 200, path);
    return { text: await response.text(), headers: response.headers };
  };
  const page = await loaded('/docs');
  t.regex(page.headers.get('Content-Type') ?? '', /^text\/html/);
  const policy = page.headers.get('Content-Security-Policy') ?? '';
  t.notRegex(policy, /https?:|\*|unsafe/);
  t.regex(policy, /^default-src 'none'; base-uri 'none'; .*frame-ancestors 'none'$/);
  const parts = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] as string);
  t.true(parts.length >= 3 && parts.every((path) => path.startsWith('/docs/')), parts.join());
  for (const part of parts) t.true((await loaded(part)).text.length > 100, part);
  for (const { text } of [page, await loaded('/docs/page.js')]) t.notRegex(text, /https?:\/\//);
  t.notRegex((await loaded('/docs/swagger-ui.css')).text, /url\(["']?https?:|@import/);
});

test('the example of an event stream is what a stream begins with', async (t) => {
  const document = await (await fetch(`${service.url}/openapi.json`)).text();
  const [, shown] = /"example":("data: .*?\\n\\n")/.exec(document) ?? [];
  const stream = await openStream(service.admin, '/monitor/system-info/stream');
  const { timestamp } = await stream.event('connected');
  stream.close();
  const example = JSON.parse(/^data: (.*)\n\n$/.exec(JSON.parse(shown ?? '""'))?.[1] ?? '{}');
  t.deepEqual({ ...example, timestamp }, stream.events[0]);
});

interface Operation {
  operationId: string;
  summary: string;
  parameters: { name?: string; in?: string; required?: boolean }[];
  requestBody?: { content: Record<string, { example: object }> };
  responses: Record<string, { content?: object }>;
  security: object[];
}

interface Document {
  openapi: string;
  info: { title: string; version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { securitySchemes: object };
}

// Alone: to compile every schema keeps this thread, and the service in it, busy for seconds.
test.serial('the OpenAPI document covers every route once', async (t) => {
  const response = await fetch(`${service.url}/openapi.json`);
  t.regex(response.headers.get('Content-Type') ?? '', /^application\/json/);
  const document = (await response.json()) as Document;
  t.regex(document.openapi, /^3\.1\.\d+$/);
  t.true(Boolean(document.info.title && document.info.version));
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const named = routes.map((route) => `${route.method.toLowerCase()} ${fullPath(route)}`).sort();
  t.deepEqual(operations.map(({ path, method }) => `${method} ${path}`).sort(), named);
  t.is(new Set(operations.map(({ operation }) => operation.operationId)).size, operations.length);
  for (const { path, operation } of operations) {
    const placeholders = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    const described = operation.parameters.filter((parameter) => parameter.in === 'path');
    t.deepEqual(
      described.map(({ name }) => name),
      placeholders,
      path,
    );
    t.true(
      described.every(({ required }) => required),
      path,
    );
    for (const status of ['200', '400', '500', '503'])
      t.true(status in operation.responses, `${path} ${status}`);
    t.true(operation.summary.length > 0, path);
    for (const scheme of operation.security.flatMap(Object.keys))
      t.true(scheme in document.components.securitySchemes);
  }
  const ajv = addFormats.default(new Ajv.default({ strict: false }));
  ajv.addFormat('decimal', true).addSchema(document, 'document');
  const schemas = [...schemaPlaces(document)];
  t.true(schemas.length > 2 * operations.length);
  for (const pointer of schemas) t.notThrows(() => ajv.compile({ $ref: `document#${pointer}` }), pointer);
});

test('the document declares what a download answers: the file, a part of it, and that it is the same', async (t) => {
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document;
  const declared = document.paths['/api/admin/attachments/{id}/download']?.get?.responses ?? {};
  const { id } = (await service.admin.upload('/attachments/upload', 'a receipt')).data as { id: number };
  const download = (headers = {}) => service.admin.download(`/attachments/${id}/download`, headers);
  const whole = await download();
  const same = { 'If-None-Match': whole.headers.get('ETag') ?? '', 'Cache-Control': 'max-age=0' };
  for (const [{ status }, wanted] of [
    [whole, 200],
    [await download({ Range: 'bytes=2-' }), 206],
    [await download(same), 304],
  ] as const) {
    t.is(status, wanted);
    t.truthy(declared[status], `${status} is not declared`);
    if (status !== 304)
      t.deepEqual(Object.keys(declared[status]?.content ?? {}), ['*/*'], 'a file has a type of its own');
  }
});

test('the examples of a user and of a payment method make ones that can be used', async (t) => {
  const { paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document;
  const made = (path: string, own: object) => {
    const { example } = paths[`/api/admin${path}`]?.post?.requestBody?.content['application/json'] ?? {};
    return service.admin.post(path, { ...example, ...own });
  };
  t.is((await made('/users', { username: unique('u-') })).data.status, 1);
  t.true((await made('/payment-methods', { code: unique('m-') })).data.is_active);
});

/** Where the document holds schemas of parameters, bodies and answers. */
function* schemaPlaces(node: unknown, pointer = ''): Generator<string> {
  if (typeof node !== 'object' || node === null) return;
  for (const [name, part] of Object.entries(node)) {
    const place = `${pointer}/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
    if (name === 'schema') yield place;
    else yield* schemaPlaces(part, place);
  }
}
