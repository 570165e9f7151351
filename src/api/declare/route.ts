// The declaration of a route. Guard, validation, OpenAPI, permission rows and operation log are derived from it.
import type Joi from 'joi';
import type { Context } from 'koa';
import { config } from '../../../config/index.js';
import type { LimitName } from '../../../config/limits.js';
import type { Transaction } from '../../lib/database/unit.js';
import { idParam } from '../../lib/input/schema.js';
import type { ErrorSlug } from '../../lib/errors/catalogue.js';
import type { Text } from '../../lib/values/language.js';
import type { Identity } from '../../models/access/identity.js';

export interface Permission {
  /** noun.verb */
  slug: string;
  /** Its name in role forms and in the operation log. */
  name: Text;
  /** Only the slug opens the route, not a permission with the same method and path. */
  slugOnly: boolean;
}

/** Who may call: everyone, every signed-in administrator, or those with a permission. */
export type Access = 'public' | 'signedIn' | Permission;

/** Access by permission. */
export function can(slug: string, zh: string, en: string, { slugOnly = false } = {}): Permission {
  return { slug, name: { zh, en }, slugOnly };
}

/** Makes fields required, for `fork`. */
export const required = (field: Joi.Schema): Joi.Schema => field.required();

/** `deadlineMs` of a route that waits for a payment company. */
export const companyDeadlineMs = config.payments.gatewayTimeoutMs + 5000;

/** Input of a handler, validated and typed. */
export interface Call<A extends Access, P, Q, B, U = UploadDeclaration | undefined> {
  params: P;
  query: Q;
  body: B;
  /** The body as text, of a route that takes forms; empty when it was neither JSON nor a form. */
  raw: string;
  /** The signed-in administrator; undefined on public routes. */
  admin: A extends 'public' ? undefined : Identity;
  /** Canonical address of the client. */
  ip: string;
  userAgent: string | undefined;
  /** Deadline of the answer, in milliseconds of performance.now(). */
  deadline: number;
  /** The file of a multipart body; removed when the handler is done, unless the storage has taken it. */
  upload: Received<U>;
}

/** A file where the declaration requires one, with its digest where it asks for it. */
type Received<U> = U extends { required: true }
  ? U extends { digest: true }
    ? Upload & { sha256: string }
    : Upload
  : Upload | undefined;

/** An answer in the words of a payment company, without the envelope. */
export class PlainAnswer {
  readonly status: 200 | 204;
  readonly text: string;

  constructor(status: 200 | 204, text = '') {
    this.status = status;
    this.text = text;
  }
}

/** A received file on the local disk. */
export interface Upload {
  path: string;
  /** Bytes. */
  size: number;
  /** Named by the client; untrusted. */
  filename: string;
  /** SHA-256 in lower-case hex, when the route asks for it. */
  sha256?: string;
}

/** The upload of a route, besides the fields of its body. */
export interface UploadDeclaration {
  /** Names of the file part; the first is the documented one. */
  parts: readonly [string, ...string[]];
  maxBytes: number;
  /** Refuses requests without a file, and bodies that are not forms. */
  required: boolean;
  /** The other fields of the form, if they are not those of the body. */
  fields?: Joi.ObjectSchema;
  /** Whether the SHA-256 of the file is needed: it costs a chunk a fifth of its time. */
  digest?: boolean;
}

interface RouteDefinition<
  A extends Access,
  P,
  Q,
  B,
  R = unknown,
  U extends UploadDeclaration | undefined = UploadDeclaration | undefined,
> {
  /** Its path is below the host itself instead of /api/admin. */
  host?: boolean;
  /** Unique name of the operation, a verb and its object (`operationId`). */
  name: string;
  /** One English sentence for the documentation. */
  summary: string;
  /** Name of a write in the operation log, where that of its permission says something else. */
  title?: Text;
  /** Its action there, where the verb of its permission says something else. */
  action?: string;
  /** Further documentation. */
  description?: string;
  access: A;
  /** Disabled together with that module; routes.ts sets it. */
  module?: 'orders' | 'payments';
  /** By default `{id}` is a key. */
  params?: Joi.ObjectSchema<P>;
  query?: Joi.ObjectSchema<Q>;
  body?: Joi.ObjectSchema<B>;
  /** A signed URL (`fileLink`) may replace the bearer token: pictures and links send no headers. */
  link?: boolean;
  /** Max duration, everything included, before a 503; 9.5 s by default. Uploads, files and streams have none. */
  deadlineMs?: number;
  /** An additional limit, besides those of the address and the administrator. */
  limit?: LimitName;
  /** Does not count for its address. */
  unlimited?: boolean;
  /** Allowed before the first password is changed. */
  beforePasswordChange?: boolean;
  /** Allowed for blocked addresses. */
  anyAddress?: boolean;
  /**
   * Reads and locks the record of a PUT or DELETE, at the beginning and at the end of its first transaction:
   * the operation log stores what changed in between.
   */
  subject?: (call: Call<A, P, Q, B, U>, t: Transaction) => Promise<object>;
  /**
   * What the handler sends itself; JSON otherwise. A stream has a limit of its own, and a one-time ticket in the query
   * may replace its bearer token: an EventSource sends no headers.
   */
  reply?: 'event-stream' | 'file';
  /** An example body for the documentation page. */
  example?: object;
  /** Aliases of body fields: alias → field. */
  aliases?: Record<string, string>;
  /** Max bytes of a JSON body; 64 KiB by default, at most 1 MiB. */
  bodyBytes?: number;
  /** Accepts form bodies of at most this many bytes besides JSON. */
  form?: { maxBytes: number };
  /** Accepts multipart bodies with one file besides JSON. */
  upload?: U;
  /** Specific errors, besides those of access, schemas and limits (`failures.ts`); others fail the tests. */
  fails?: readonly ErrorSlug[];
  /** Schema of `data` in the answer, returned by the handler. */
  response?: Joi.AnySchema<R>;
  /** Answers that the handler may return in place of `data`, with what each means. */
  plainAnswers?: readonly { answer: PlainAnswer; description: string }[];
  /** Whether a call is logged, by its raw body; false for a POST that changes nothing. By default every write is. */
  isLogged?: false | ((body: unknown) => boolean);
  handle(call: Call<A, P, Q, B, U>, ctx: Context): Promise<NoInfer<R> | PlainAnswer>;
  /**
   * The answer to a repeated Idempotency-Key, about the record made first. Its presence makes the route accept
   * the header.
   */
  repeat?: (id: number, call: Call<A, P, Q, B, U>) => Promise<NoInfer<R>>;
}

export interface Route extends RouteDefinition<Access, object, object, object> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Parameters as {name}. */
  path: string;
}

/** Declares a route below /api/admin. */
export function route<
  A extends Access,
  const Path extends string,
  P = Path extends `${string}{id}${string}` ? { id: number } : object,
  Q = object,
  B = object,
  R = void,
  const U extends UploadDeclaration | undefined = undefined,
>(method: Route['method'], path: Path, definition: RouteDefinition<A, P, Q, B, R, U>): Route {
  const params = path.includes('{id}') ? idParam : undefined;
  return { method, path, params, ...definition } as unknown as Route;
}

const adminPrefix = '/api/admin';

/** The full path, parameters as {name}. */
export function fullPath({ path, host }: Pick<Route, 'path' | 'host'>): string {
  return host ? path : adminPrefix + path;
}

/** The permission of a route, if any. */
export function permissionOf({ access }: Route): Permission | undefined {
  return typeof access === 'object' ? access : undefined;
}

/** The noun of permission slugs as used in operation names: `operation_log` → `OperationLog`. */
export function nounOf(slug: string): string {
  return slug.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
