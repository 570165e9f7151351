// A client of the service: every operation, its parameters, its answers and its refusals are typed by the OpenAPI document.
import createFetchClient, { type Client as FetchClient } from 'openapi-fetch';
import type { components, paths } from './schema.js';

/** Every named schema: `Schemas['Order']`. */
export type Schemas = components['schemas'];

/** `client.GET('/api/admin/orders', …)`, as openapi-fetch has it. */
export type Client = FetchClient<paths>;

/** What a refusal carries; its `data` is nothing. */
export type Failure = Omit<Schemas['Failure'], 'data'>;

export interface Options {
  /** Where the service is, without a path. */
  url: string;
  /** The bearer token, once there is one; asked for with each request. */
  token?: () => string | undefined;
  /** Language of messages; Chinese without it. */
  language?: 'zh-CN' | 'en-US';
  /** IANA zone of times; UTC without it. */
  zone?: string;
}

/** Makes a client. */
export function createClient({ url, token, language, zone }: Options): Client {
  const client = createFetchClient<paths>({ baseUrl: url });
  client.use({
    onRequest({ request }) {
      const bearer = token?.();
      if (bearer) request.headers.set('Authorization', `Bearer ${bearer}`);
      if (language) request.headers.set('Accept-Language', language);
      if (zone) request.headers.set('X-Timezone', zone);
    },
  });
  return client;
}

/** A request that was refused, or did not succeed. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed';
  /** HTTP status. */
  readonly status: number;
  readonly failure: Failure;
  /** Seconds after which another try makes sense, if the service says so. */
  readonly retryAfter: number | undefined;

  constructor(response: Response, failure: Failure) {
    super(failure.message);
    this.status = response.status;
    this.failure = failure;
    const seconds = response.headers.get('Retry-After');
    this.retryAfter = seconds === null ? undefined : Number(seconds);
  }
}

interface Result<T> {
  data?: { data: T };
  error?: Failure;
  response: Response;
}

/**
 * What an operation answered, without its envelope.
 *
 * @throws RequestFailed
 */
export async function dataOf<T>(call: Promise<Result<T>>): Promise<T> {
  const { data, error, response } = await call;
  if (data) return data.data;
  if (error) throw new RequestFailed(response, error);
  throw new TypeError(`${response.url} answered ${response.status} without a body`);
}

/** Sends a body as a form, which uploads take: `{ body, bodySerializer: asForm }`. */
export function asForm(fields: Record<string, Blob | string | number | boolean | undefined>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (value instanceof Blob) form.append(name, value);
    else if (value !== undefined) form.append(name, String(value));
  }
  return form;
}
