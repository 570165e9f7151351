// Deadlines of request bodies, and a lingering close for clients still sending when answered.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { config } from '../../../config/index.js';

/** Smaller unwanted bodies are drained, which is cheaper than a new connection. */
const smallBytes = 64 * 1024;
/** How long a client may still send after its answer. */
const lingerMs = 3000;

const deadlines = new WeakMap<IncomingMessage, NodeJS.Timeout>();

/** Closes a request whose body has not arrived within REQUEST_TIMEOUT_SECONDS, unless extended. */
export function watchBodyDeadline(request: IncomingMessage, response: ServerResponse): void {
  if (!hasBody(request)) return;
  setDeadline(request, response, config.app.requestTimeoutMs);
  request.once('close', () => clearTimeout(deadlines.get(request)));
}

/** Extends the deadline to that of uploads. */
export function allowUpload(request: IncomingMessage, response: ServerResponse): void {
  setDeadline(request, response, config.storage.uploadTimeoutMs);
}

/**
 * The body of an answer to a client that may still be sending. The text is sent at once; the connection is
 * closed when the client stops sending, or soon after: an immediate close could discard the answer.
 */
export function answerEarly(request: IncomingMessage, text: string): Readable {
  async function* content(): AsyncGenerator<string> {
    yield text;
    await ended(request);
  }
  return Readable.from(content());
}

/** Whether much of the body may still arrive. */
export function isStillSending(request: IncomingMessage): boolean {
  if (request.complete || request.destroyed || !hasBody(request)) return false;
  const length = request.headers['content-length'];
  return length === undefined || Number(length) > smallBytes;
}

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

function setDeadline(request: IncomingMessage, response: ServerResponse, ms: number): void {
  clearTimeout(deadlines.get(request));
  deadlines.set(request, setTimeout(cut, ms, request, response).unref());
}

// As Node.js answers a request that takes too long.
function cut(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete) return;
  const { socket } = request;
  if (!response.headersSent) socket.write('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n');
  socket.destroySoon();
}

async function ended(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, lingerMs);
    request.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
    request.resume();
  });
}
