// The parameters of an operation: those of its schemas, and headers common to all requests.
import type Joi from 'joi';
import type { Schema, SchemaWriter } from './json-schema.js';
import type { Route } from './route.js';
import { idempotencyKey } from './write-unit.js';

/** Parameters shared by operations: `components.parameters`. */
export const sharedParameters = (writer: SchemaWriter) => ({
  Language: {
    name: 'Accept-Language',
    in: 'header',
    description:
      'Language of messages: `zh-CN` (without it) or `en-US`; the query parameter `language` does the same',
    schema: { type: 'string', examples: ['en-US'] },
  },
  Zone: {
    name: 'X-Timezone',
    in: 'header',
    description:
      'IANA zone that times are read in, and `created_at`, `updated_at`, `deleted_at` and `pay_time` returned in; UTC without it. `Timezone` and the query parameter `timezone` do the same',
    schema: { type: 'string', examples: ['Asia/Shanghai'] },
  },
  TraceId: {
    name: 'X-Trace-Id',
    in: 'header',
    description: 'Becomes the `trace_id` of the request; made by the service without it',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{8,64}$', examples: ['checkout-7f3a91c2'] },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Repeating the request with the same key returns the record made first',
    schema: writer.input(idempotencyKey),
  },
  Ticket: {
    name: 'ticket',
    in: 'query',
    description: 'One-time ticket in place of the bearer token (`createTicket`)',
    schema: { type: 'string' },
  },
  Range: {
    name: 'Range',
    in: 'header',
    description:
      'One range of bytes, to resume a download; `If-Range` with the `ETag` of the first part makes sure that the file is the same',
    schema: { type: 'string', examples: ['bytes=1048576-'] },
  },
  Link: {
    name: 'link',
    in: 'query',
    description: 'Signature in place of the bearer token, from the URL that `GET …/link` returns',
    schema: { type: 'string' },
  },
});

const shared = (name: string): Schema => ({ $ref: `#/components/parameters/${name}` });

/** The parameters of a request besides its body. */
export function parametersOf(route: Route, writer: SchemaWriter): Schema[] {
  return [
    ...fields('path', route.params, writer),
    ...fields('query', route.query, writer),
    ...(route.reply === 'event-stream' ? [shared('Ticket')] : []),
    ...(route.link ? [shared('Link')] : []),
    ...(route.repeat ? [shared('IdempotencyKey')] : []),
    ...(route.reply === 'file' ? [shared('Range')] : []),
    ...['Language', ...(route.host ? [] : ['Zone']), 'TraceId'].map(shared),
  ];
}

function fields(
  place: 'path' | 'query',
  given: Joi.ObjectSchema | undefined,
  writer: SchemaWriter,
): Schema[] {
  if (!given) return [];
  const { properties = {}, required = [] } = writer.input(given) as {
    properties?: Record<string, Schema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    // What null stands for in a record says nothing about a filter.
    description: (description as string | undefined)?.replace(/; null for .*/, ''),
    required: place === 'path' || required.includes(name),
    schema,
  }));
}
