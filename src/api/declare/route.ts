// The one declaration of a route. Guard, validation, OpenAPI, permission rows and operation log are derived from it.
import type Joi from 'joi';
import type { Context } from 'koa';
import type { LimitName } from '../../../config/limits.js';
import type { ErrorSlug } from '../../lib/error-catalogue.js';
import type { Text } from '../../lib/language.js';
import type { Identity } from '../../models/access/identity.js';
import type { Scope } from '../../models/tables/versions.js';

export interface Permission {
  /** noun.verb */
  slug: string;
  /** What it is called in role forms and in the operation log. */
  name: Text;
  /** Only the slug itself opens the route, not a permission with the same method and path. */
  slugOnly: boolean;
}

/** Who may call: everybody, every signed-in administrator, or those with a permission. */
export type Access = 'public' | 'signedIn' | Permission;

/** Access by permission. */
export function can(slug: string, zh: string, en: string, { slugOnly = false } = {}): Permission {
  return { slug, name: { zh, en }, slugOnly };
}

/** What a handler receives: checked and typed. */
export interface Call<A extends Access, P, Q, B, U = UploadDeclaration | undefined> {
  params: P;
  query: Q;
  body: B;
  /** The signed-in administrator; undefined on public routes. */
  admin: A extends 'public' ? undefined : Identity;
  /** Canonical address of the client. */
  ip: string;
  userAgent: string | undefined;
  /** A request header as text. */
  header: (name: string) => string | undefined;
  /** Version marks of `versions`, in its order. */
  marks: (string | undefined)[];
  /** When the answer must be there, in milliseconds since 1970. */
  deadline: number;
  /** The file of a multipart body; gone when the handler is done, unless the storage has taken it over. */
  upload: Received<U>;
}

/** What a declaration promises: a file where it is required, with its digest where that is wanted. */
type Received<U> = U extends { required: true }
  ? U extends { digest: true }
    ? Upload & { sha256: string }
    : Upload
  : Upload | undefined;

/** A file as it was received, on the local disk. */
export interface Upload {
  path: string;
  /** Bytes. */
  size: number;
  /** As the client named it; not to be trusted. */
  filename: string;
  /** SHA-256 in lower-case hex, when the route asks for it. */
  sha256?: string;
}

/** What a route takes beside the fields of its body. */
export interface UploadDeclaration {
  /** Names of the part that carries the file; the first one is the documented one. */
  parts: readonly [string, ...string[]];
  maxBytes: number;
  /** Without a file the request is refused, and other bodies than forms are too. */
  required: boolean;
  /** The other fields of the form, where they are not those of the body. */
  fields?: Joi.ObjectSchema;
  /** The file's SHA-256 is wanted. */
  digest?: boolean;
}

export interface RouteDefinition<
  A extends Access,
  P,
  Q,
  B,
  R = unknown,
  U extends UploadDeclaration | undefined = UploadDeclaration | undefined,
> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below /api/admin, parameters as {name}; with `host` below the host itself. */
  path: string;
  host?: boolean;
  /** What clients call the operation: a verb and its object, unique (`operationId`). */
  name: string;
  /** One English sentence for the documentation. */
  summary: string;
  /** What a write without a permission is called in the operation log. */
  title?: Text;
  /** More for the documentation, where the summary does not say it all. */
  description?: string;
  access: A;
  /** Switched off together with that module. */
  module?: 'orders' | 'payments';
  params?: Joi.ObjectSchema<P>;
  query?: Joi.ObjectSchema<Q>;
  body?: Joi.ObjectSchema<B>;
  /** A one-time ticket in the query may stand for the bearer token: browsers cannot send headers with an EventSource. */
  ticket?: boolean;
  /** A signed address (`fileLink`) may stand for the bearer token: pages cannot send headers with pictures and links. */
  link?: boolean;
  /**
   * Answered 503 when it takes longer, everything included; 9.5 s unless said otherwise. Uploads, files and streams take
   * the time they take.
   */
  deadlineMs?: number;
  /** Counted by itself too, beside the requests of the address and of the administrator. */
  limit?: LimitName;
  /** Not counted for its address. */
  unlimited?: boolean;
  /** Open to an administrator who must change their password first. */
  beforePasswordChange?: boolean;
  /** Answered to blocked addresses too. */
  anyAddress?: boolean;
  /** The record a PUT or DELETE is about; the operation log keeps what changed in it. */
  subject?: (call: Call<A, P, Q, B, U>) => Promise<object>;
  /** What the handler sends by itself; JSON otherwise. */
  reply?: 'event-stream' | 'file';
  /** A body to start from, for the documentation page. */
  example?: object;
  /** Other names under which a body field is accepted: alias → field. */
  aliases?: Record<string, string>;
  /** The largest JSON body; 64 KiB unless said otherwise, JSON_MAX_KB at most. */
  bodyBytes?: number;
  /** Form bodies are accepted beside JSON, of at most that many bytes. */
  form?: { maxBytes: number };
  /** Multipart bodies are accepted beside JSON, with one file. */
  upload?: U;
  /** Refusals of its own, beside those that follow from access, schemas and limits (`failures.ts`); others fail the tests. */
  fails?: readonly ErrorSlug[];
  /** Schema of `data` in the answer, which the handler returns; null when there is none. */
  response: Joi.AnySchema<R> | null;
  /** Whether a call belongs into the operation log, by its body as it came; every write does otherwise. */
  isLogged?: (body: unknown) => boolean;
  /** Version marks to read together with the session, in the same round trip. */
  versions?: readonly Scope[];
  handle(call: Call<A, P, Q, B, U>, ctx: Context): Promise<NoInfer<R>>;
  /**
   * The answer to a request that is repeated under its Idempotency-Key: about the record it made the first time. With it a
   * route takes the header.
   */
  repeat?: (id: number, call: Call<A, P, Q, B, U>) => Promise<NoInfer<R>>;
}

export type Route = RouteDefinition<Access, object, object, object>;

/** Declares a route. */
export function route<
  A extends Access,
  P = object,
  Q = object,
  B = object,
  R = unknown,
  const U extends UploadDeclaration | undefined = undefined,
>(definition: RouteDefinition<A, P, Q, B, R, U>): Route {
  return definition as unknown as Route;
}

const adminPrefix = '/api/admin';

/** The whole path, parameters as {name}. */
export function fullPath({ path, host }: Pick<Route, 'path' | 'host'>): string {
  return host ? path : adminPrefix + path;
}

/** The permission a route needs, if it needs one. */
export function permissionOf({ access }: Route): Permission | undefined {
  return typeof access === 'object' ? access : undefined;
}

/** The noun of permission slugs as names of operations have it: `operation_log` → `OperationLog`. */
export function nounOf(slug: string): string {
  return slug.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
