// Calls of the API, typed by its OpenAPI document. Every error is a Failure.
import { session } from './session.ts';
import { currentSettings } from './settings.ts';
import { amounts, permissions, type Routes } from './generated/routes.ts';
import { texts } from './texts.ts';

export type Route = keyof Routes;

/** `data` of the answer; amounts are decimal strings. */
export type Data<R extends Route> = Routes[R] extends {
  responses: { 200: { content: { 'application/json': { data: infer D } } } };
}
  ? D
  : never;
export type Query<R extends Route> = Routes[R] extends { parameters: { query?: infer Q } }
  ? NonNullable<Q>
  : never;
export type Body<R extends Route> = Routes[R] extends {
  requestBody: { content: { 'application/json': infer B } };
}
  ? B
  : never;
/** Type of a list's items. */
export type Row<R extends Route> = Data<R> extends { list: (infer T)[] } ? T : never;

export interface Input<R extends Route> {
  /** Path parameters. */
  path?: Record<string, string | number>;
  query?: Partial<Query<R>> | Record<string, string | undefined>;
  body?: Body<R> | FormData;
  /** Repeats with the same key have one effect. */
  idempotencyKey?: string;
  signal?: AbortSignal;
  /** Times in the file or the filters are in the zone of the page. */
  zoned?: boolean;
}

/** Any failure of a call. */
export class Failure extends Error {
  override name = 'Failure';
  constructor(
    message: string,
    /** HTTP status; 0 when there was no answer. */
    readonly status: number,
    readonly details: {
      error_code?: string;
      errors?: Record<string, string[]>;
      trace_id?: string;
      /** Seconds. */
      retryAfter?: number;
    } = {},
  ) {
    super(message);
  }
  get code(): string {
    return this.details.error_code ?? '';
  }
  get isOffline(): boolean {
    return this.status === 0;
  }
  /** Whether the service itself gave no answer. Its own 502 has a trace: a channel or the storage has not answered. */
  get isAway(): boolean {
    return this.isOffline || (this.status >= 502 && !(this.status === 502 && this.details.trace_id));
  }
  /** Whether a retry may help. */
  get isPassing(): boolean {
    return this.isOffline || [429, 502, 503, 504].includes(this.status);
  }
}

const t = texts({
  offline: ['无法连接到服务，请检查网络', 'The service cannot be reached; check the network'],
  unreadable: ['服务的应答无法读取', 'The service gave an unreadable answer'],
  away: [
    '服务暂时没有应答，内容不会丢失，请稍后再试',
    'The service is not responding. Nothing is lost: try again in a moment',
  ],
  tooLarge: [
    '文件超过服务前面的代理所允许的大小，请联系管理员',
    'The proxy in front of the service does not take a file of this size; ask an administrator',
  ],
  tooMany: ['请求过于频繁，请稍后再试', 'Too many requests, please try again later'],
});

/** Called after every call with its failure, if the service did not answer. */
export const transport: { onAnswer?: (failure: Failure | undefined) => void } = {};

export const permissionOf = (route: Route): string | null => permissions[route];

/** Calls a route. @throws Failure */
export async function call<R extends Route>(route: R, input: Input<R> = {}): Promise<Data<R>> {
  const { token } = session;
  const { response, content } = await send(route, input, 'text');
  const envelope = read(content);
  if (response.ok && envelope?.code === 200) return envelope.data as Data<R>;
  throw failureOf(response, envelope, token);
}

/** Fetches a file. @throws Failure */
export async function download<R extends Route>(
  route: R,
  input: Input<R> = {},
): Promise<{ blob: Blob; filename: string }> {
  const { token } = session;
  const { response, content } = await send(route, input, 'blob');
  if (!response.ok) throw failureOf(response, read(await content.text()), token);
  const name = /filename\*=UTF-8''([^;]+)/.exec(response.headers.get('Content-Disposition') ?? '')?.[1];
  return { blob: content, filename: decodeURIComponent(name ?? 'download') };
}

/** The URL of a route. */
export function addressOf(
  route: Route,
  { path = {}, query = {} }: Pick<Input<Route>, 'path' | 'query'>,
): string {
  const [, template = ''] = route.split(' ');
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ''));
  const given = Object.entries(query).filter(
    ([, value]) => value !== undefined && value !== '' && value !== null,
  );
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return search ? `${filled}?${search}` : filled;
}

/** As long as the shipped nginx waits; files take as long as they take. */
const deadlineMs = 60_000;

interface Content {
  text: string;
  blob: Blob;
}

async function send<R extends Route, K extends keyof Content>(
  route: R,
  input: Input<R>,
  kind: K,
): Promise<{ response: Response; content: Content[K] }> {
  const { body, idempotencyKey, signal, zoned } = input;
  const { language, zone } = currentSettings();
  const headers: Record<string, string> = { 'Accept-Language': language };
  if (session.token) headers.Authorization = `Bearer ${session.token}`;
  if (idempotencyKey) headers['Idempotency-Key'] = idempotencyKey;
  if (zoned) headers['X-Timezone'] = zone;
  const isForm = body instanceof FormData;
  if (body !== undefined && !isForm) headers['Content-Type'] = 'application/json';
  const [method] = route.split(' ');
  const sent = body === undefined ? undefined : isForm ? body : JSON.stringify(body);
  signal?.throwIfAborted();
  const ended = new AbortController();
  const end = () => ended.abort();
  signal?.addEventListener('abort', end);
  const timer = isForm || kind === 'blob' ? undefined : setTimeout(end, deadlineMs);
  try {
    const request = { method, headers, body: sent, signal: ended.signal };
    const response = await fetch(addressOf(route, input), request);
    const content = (await response[kind]()) as Content[K];
    const answer = new Failure(t.away, response.status, { trace_id: traceOf(response) });
    transport.onAnswer?.(answer.isAway ? answer : undefined);
    return { response, content };
  } catch (error) {
    if (signal?.aborted) throw error;
    const failure = new Failure(ended.signal.aborted ? t.away : t.offline, 0);
    transport.onAnswer?.(failure);
    throw failure;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

const traceOf = ({ headers }: Response): string | undefined => headers.get('X-Trace-Id') ?? undefined;

interface Envelope {
  code: number;
  message: string;
  data: unknown;
  error_code?: string;
  errors?: Record<string, string[]>;
  trace_id?: string;
}

// The digits of an amount as sent, which a float would lose.
const keepDigits = ((key: string, value: unknown, context?: { source?: string }): unknown =>
  typeof value === 'number' && amounts.has(key) ? (context?.source ?? value.toFixed(2)) : value) as (
  key: string,
  value: unknown,
) => unknown;

/** Parses JSON of the service; amounts become decimal strings. */
export function read(text: string): Envelope | undefined {
  try {
    return JSON.parse(text, keepDigits) as Envelope;
  } catch {
    return undefined;
  }
}

/** What a page of a proxy means: its backend is away, or it has a limit of its own. */
function unread(status: number): string {
  const known = { 413: t.tooLarge, 429: t.tooMany, 502: t.away, 503: t.away, 504: t.away }[status];
  return `${known ?? t.unreadable} (${status})`;
}

/** @param token it was sent with: the refusal of an earlier one says nothing of the session since */
function failureOf(response: Response, envelope: Envelope | undefined, token: string | undefined): Failure {
  const { error_code, errors, trace_id } = envelope ?? {};
  const wait = Number(response.headers.get('Retry-After') ?? NaN);
  // The shipped proxies answer without a trace, and not in the language of the reader.
  const message = trace_id === '' ? undefined : envelope?.message;
  const failure = new Failure(message ?? unread(response.status), response.status, {
    error_code,
    errors,
    trace_id: trace_id ?? traceOf(response),
    retryAfter: Number.isFinite(wait) ? wait : undefined,
  });
  if (response.status === 401 && token && token === session.token) session.onRefused?.(failure.code);
  return failure;
}
