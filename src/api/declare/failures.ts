// The error answers of an operation: those that follow from its declaration, and those it declares.
import { errorCatalogue, type ErrorSlug } from '../../lib/errors/catalogue.js';
import type { Schema } from './json-schema.js';
import { permissionOf, type Route } from './route.js';

const slugs = Object.keys(errorCatalogue) as ErrorSlug[];

/** Components of every document: the failure, and its possible slugs. */
export const failureSchemas: Record<string, Schema> = {
  ErrorSlug: { type: 'string', enum: slugs, description: 'What failed, as a slug for programs' },
  Failure: {
    type: 'object',
    description: 'The answer to a request that fails',
    required: ['code', 'message', 'data', 'error_code', 'trace_id'],
    properties: {
      code: { type: 'integer', description: 'Business code: 401 … 503, or five digits', examples: [30001] },
      message: { type: 'string', description: 'Text for people, in the language of the request' },
      data: { type: 'null', description: 'Nothing' },
      error_code: {
        description: 'What failed, as a slug for programs',
        $ref: '#/components/schemas/ErrorSlug',
      },
      errors: {
        type: 'object',
        description: 'Texts per field, when it is about fields; a nested one is called `details.0.price`',
        additionalProperties: { type: 'array', items: { type: 'string' } },
      },
      trace_id: { type: 'string', description: 'Identifies the request in logs and messages to support' },
    },
    additionalProperties: false,
  },
};

/** All possible errors of an operation by slug, in the order of the catalogue. */
function failuresOf(route: Route): ErrorSlug[] {
  const found = new Set<ErrorSlug>([...outOfAccess(route), ...outOfInput(route), ...outOfWork(route)]);
  for (const slug of route.fails ?? []) found.add(slug);
  return slugs.filter((slug) => found.has(slug));
}

function outOfAccess(route: Route): ErrorSlug[] {
  const found: ErrorSlug[] = ['bad_request'];
  if (!route.host) found.push('validation_failed', 'timezone_invalid');
  if (!route.anyAddress) found.push('ip_blocked');
  if (!route.unlimited || route.limit) found.push('too_many_requests');
  if (route.access === 'public') return found;
  found.push('not_logged_in', 'token_expired', 'token_revoked', 'token_invalid');
  if (route.reply === 'event-stream') found.push('ticket_invalid');
  if (route.link) found.push('link_invalid');
  if (!route.beforePasswordChange) found.push('password_change_required');
  if (permissionOf(route)) found.push('no_permission');
  if (route.module === 'orders') found.push('module_orders_disabled');
  if (route.module === 'payments') found.push('module_payments_disabled');
  return found;
}

function outOfInput(route: Route): ErrorSlug[] {
  const found: ErrorSlug[] = [];
  if (route.params || route.query || route.body || route.repeat)
    found.push('validation_failed', 'value_not_acceptable', 'format_invalid');
  if (route.body) {
    found.push('body_not_json', 'body_not_object', 'body_key_reserved', 'body_encoding_invalid');
    found.push('body_too_deep', 'payload_too_large', 'content_encoding_unsupported', 'request_timeout');
  }
  if (route.body && !route.form) found.push('content_type_unsupported');
  if (route.repeat) found.push('idempotency_key_reused');
  if (route.upload) found.push('storage_full', 'upload_failed', 'storage_unavailable');
  return found;
}

function outOfWork(route: Route): ErrorSlug[] {
  const found: ErrorSlug[] = ['database_unavailable', 'database_busy', 'cache_unavailable', 'internal_error'];
  if (route.method !== 'GET') found.push('queue_unavailable');
  if (route.reply === 'event-stream') found.push('too_many_streams');
  if (route.reply === 'file') found.push('range_not_satisfiable', 'storage_unavailable');
  return found;
}

/** Writes the error answers of operations; common ones are shared in `components.responses`. */
export class FailureWriter {
  readonly #shared = new Map<string, { name: string; answer: Schema }>();

  /** The shared answers by name. */
  get responses(): Record<string, Schema> {
    return Object.fromEntries([...this.#shared.values()].map(({ name, answer }) => [name, answer]));
  }

  /** The error answers of an operation by status. */
  answersOf(route: Route): Record<string, Schema> {
    const byStatus = new Map<number, ErrorSlug[]>();
    for (const slug of failuresOf(route)) {
      const { status } = errorCatalogue[slug];
      byStatus.set(status, [...(byStatus.get(status) ?? []), slug]);
    }
    const own = new Set(route.fails);
    const answers = [...byStatus].map(([status, found]) => {
      const isShared = !found.some((slug) => own.has(slug));
      return [
        status,
        isShared
          ? this.#share(status, found)
          : answer(
              status,
              found,
              found.find((slug) => own.has(slug)),
            ),
      ];
    });
    return Object.fromEntries(answers) as Record<string, Schema>;
  }

  #share(status: number, found: ErrorSlug[]): Schema {
    const key = found.join();
    let shared = this.#shared.get(key);
    if (!shared) {
      const alike = [...this.#shared.keys()].filter(
        (other) => errorCatalogue[other.split(',')[0] as ErrorSlug].status === status,
      );
      const name = alike.length === 0 ? `Status${status}` : `Status${status}_${alike.length + 1}`;
      this.#shared.set(key, (shared = { name, answer: answer(status, found) }));
    }
    return { $ref: `#/components/responses/${shared.name}` };
  }
}

function answer(status: number, found: ErrorSlug[], shown = found[0]): Schema {
  const schema = {
    allOf: [
      { $ref: '#/components/schemas/Failure' },
      {
        type: 'object',
        properties: { error_code: { type: 'string', enum: found, description: 'Which refusal it is' } },
        required: ['error_code'],
      },
    ],
  };
  return {
    description: found.map((slug) => `\`${slug}\` ${errorCatalogue[slug].en}`).join('; '),
    ...(status === 429 || status === 503 ? { headers: retryAfter } : {}),
    content: { 'application/json': { schema, ...(shown ? { example: exampleOf(shown) } : {}) } },
  };
}

const retryAfter = {
  'Retry-After': { description: 'Seconds until another try makes sense', schema: { type: 'integer' } },
};

function exampleOf(slug: ErrorSlug): object {
  const { code, en } = errorCatalogue[slug];
  const fields = slug === 'validation_failed' ? { errors: { field: ['is required'] } } : {};
  return {
    code,
    message: en,
    data: null,
    error_code: slug,
    ...fields,
    trace_id: '01JDAV3Q8W5Z8N4M6K2T9R7C1E',
  };
}
