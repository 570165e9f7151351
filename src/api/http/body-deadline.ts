// Deadlines of request bodies, and a lingering close for clients that are still sending when they are answered.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { config } from '../../../config/index.js';

/** Unwanted bodies up to this size are drained: cheaper than a new connection. */
const smallBytes = 64 * 1024;
/** As long as a client may still send after its answer. */
const lingerMs = 3000;

const deadlines = new WeakMap<IncomingMessage, NodeJS.Timeout>();

/** Cuts a request whose body has not arrived within REQUEST_TIMEOUT_SECONDS, unless it is given more time. */
export function watchBodyDeadline(request: IncomingMessage, response: ServerResponse): void {
  if (!hasBody(request)) return;
  setDeadline(request, response, config.app.requestTimeoutMs);
  request.once('close', () => clearTimeout(deadlines.get(request)));
}

/** A request that may take as long as an upload. */
export function allowUpload(request: IncomingMessage, response: ServerResponse): void {
  setDeadline(request, response, config.storage.uploadTimeoutMs);
}

/**
 * A text as the body of an answer to a client that may still be sending. It gets the whole answer at once; the
 * connection is closed when it stops sending, or soon after: closing at once could take the answer away from it.
 */
export function answerEarly(request: IncomingMessage, text: string): Readable {
  async function* content(): AsyncGenerator<string> {
    yield text;
    await ended(request);
  }
  return Readable.from(content());
}

/** Whether much of the body may still be on its way. */
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

// As Node.js itself answers a request that takes too long.
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
