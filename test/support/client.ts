// A caller of the service over HTTP. Every JSON answer is validated against the served OpenAPI document.
import { mustMatchContract } from './contract.js';

export interface Answer<T = any> {
  status: number;
  headers: Headers;
  /** `code` of the envelope. */
  code: number;
  message: string;
  errorCode: string | undefined;
  errors: Record<string, string[]> | undefined;
  /** Names of the fields that it refuses. */
  fields: string[];
  data: T;
  text: string;
}

/** HTTP status, business code and slug of an answer. */
export const outcome = ({ status, code, errorCode }: Answer): [number, number, string | undefined] => [
  status,
  code,
  errorCode,
];

export interface RequestOptions {
  headers?: Record<string, string>;
  /** A JSON value, or a text or multipart form that is sent as it is. */
  body?: unknown;
}

interface UploadOptions {
  filename?: string;
  /** Name of the form part with the file. */
  part?: string;
  fields?: Record<string, string | number>;
}

export interface Account {
  username: string;
  password: string;
}

const first: Account = { username: 'admin', password: 'admin123' };

export class Client {
  readonly url: string;
  /** Headers of every request. */
  readonly headers: Record<string, string>;

  constructor(url: string, headers: Record<string, string> = {}) {
    this.url = url;
    this.headers = headers;
  }

  /** The same caller with more headers. */
  with(headers: Record<string, string>): Client {
    return new Client(this.url, { ...this.headers, ...headers });
  }

  /** The same caller at another address of the service. */
  at(url: string): Client {
    return new Client(url, this.headers);
  }

  /** Signs in, the first administrator by default. @returns the caller with its token @throws Error when the service refuses */
  async signIn({ username, password }: Account = first): Promise<Client> {
    const answer = await this.post('/login', { username, password });
    if (answer.status !== 200) throw new Error(`signing in as ${username} failed: ${answer.text}`);
    return this.with({ Authorization: `Bearer ${(answer.data as { token: string }).token}` });
  }

  get(path: string, headers?: Record<string, string>): Promise<Answer> {
    return this.request('GET', path, { headers });
  }

  post(path: string, body: unknown = {}, headers?: Record<string, string>): Promise<Answer> {
    return this.request('POST', path, { body, headers });
  }

  put(path: string, body: unknown = {}, headers?: Record<string, string>): Promise<Answer> {
    return this.request('PUT', path, { body, headers });
  }

  delete(path: string, body?: unknown): Promise<Answer> {
    return this.request('DELETE', path, { body });
  }

  /** Sends a multipart form with one file. */
  upload(
    path: string,
    content: string | Uint8Array,
    { filename = 'file.txt', part = 'file', fields = {} }: UploadOptions = {},
  ): Promise<Answer> {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, String(value));
    body.append(part, new Blob([content]), filename);
    return this.request('POST', path, { body });
  }

  /** Fetches a file below /api/admin. */
  async download(
    path: string,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; headers: Headers; bytes: Buffer }> {
    const response = await fetch(`${this.url}/api/admin${path}`, {
      headers: { ...this.headers, ...headers },
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, bytes };
  }

  /** A path below /api/admin, or one from the host when it starts with `//`. */
  async request(method: string, path: string, { headers = {}, body }: RequestOptions = {}): Promise<Answer> {
    const target = path.startsWith('//') ? path.slice(1) : `/api/admin${path}`;
    const isForm = body instanceof FormData;
    const type: Record<string, string> =
      body === undefined || isForm ? {} : { 'Content-Type': 'application/json' };
    const response = await fetch(this.url + target, {
      method,
      headers: { ...type, ...this.headers, ...headers },
      body: typeof body === 'string' || isForm ? body : JSON.stringify(body),
    }).catch((error: Error) => {
      throw new Error(
        `${method} ${target} got no answer: ${(error.cause as Error | undefined)?.message ?? error.message}`,
        { cause: error },
      );
    });
    const text = await response.text();
    const envelope = JSON.parse(text) as Record<string, unknown>;
    const errors = envelope.errors as Answer['errors'];
    mustMatchContract(method, target, response.status, envelope);
    return {
      status: response.status,
      headers: response.headers,
      code: envelope.code as number,
      message: envelope.message as string,
      errorCode: envelope.error_code as string | undefined,
      errors,
      fields: Object.keys(errors ?? {}),
      data: envelope.data,
      text,
    };
  }
}
