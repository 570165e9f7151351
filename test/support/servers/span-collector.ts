// A collector of spans: OTLP over HTTP in its JSON form.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { portOf } from './free-port.js';

type Value = { stringValue?: string; intValue?: number; doubleValue?: number; boolValue?: boolean };
type Attributes = { key: string; value: Value }[];

interface Sent {
  resourceSpans: {
    resource: { attributes: Attributes };
    scopeSpans: { spans: SentSpan[] }[];
  }[];
}

interface SentSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  attributes: Attributes;
  events?: unknown[];
  status: { code?: number; message?: string };
}

export interface TakenSpan extends Omit<SentSpan, 'attributes'> {
  attributes: Record<string, unknown>;
  resource: Record<string, unknown>;
}

/** Kinds as OTLP numbers them. */
export const kinds = { server: 2, client: 3, producer: 4, consumer: 5 } as const;

const plain = (attributes: Attributes): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

export class SpanCollector {
  readonly url: string;
  readonly spans: TakenSpan[] = [];
  /** Of each request: path and headers. */
  readonly requests: { path?: string; headers: IncomingMessage['headers'] }[] = [];
  readonly #server: Server;
  readonly #held = new Set<ServerResponse>();

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${portOf(server)}`;
  }

  /** @param isSilent takes everything and never answers */
  static async open({ isSilent = false } = {}): Promise<SpanCollector> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const collector = new SpanCollector(server);
    server.on('request', (request, response) => void collector.#take(request, response, isSilent));
    return collector;
  }

  async #take(request: IncomingMessage, response: ServerResponse, isSilent: boolean): Promise<void> {
    this.requests.push({ path: request.url, headers: request.headers });
    const { resourceSpans } = (await json(request)) as Sent;
    for (const { resource, scopeSpans } of resourceSpans)
      for (const span of scopeSpans.flatMap(({ spans }) => spans))
        this.spans.push({
          ...span,
          attributes: plain(span.attributes),
          resource: plain(resource.attributes),
        });
    if (!isSilent) {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
      return;
    }
    this.#held.add(response);
    response.on('close', () => this.#held.delete(response));
  }

  /** Requests that wait for an answer. */
  held(): number {
    return this.#held.size;
  }

  /** The parts of a span. */
  childrenOf = ({ traceId, spanId }: TakenSpan): TakenSpan[] =>
    this.spans.filter((span) => span.traceId === traceId && span.parentSpanId === spanId);

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
