// Fair scheduling: requests of a connection run one after another, networks take turns.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { disconnect, markBusy, markIdle, networkOfConnection } from './connections.js';

/** Max pipelined requests waiting per connection. */
const maxWaiting = 16;
/** Max requests started per turn of the event loop. */
const maxPerTurn = 16;

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

interface Line {
  waiting: [IncomingMessage, ServerResponse][];
  isBusy: boolean;
}

const lines = new WeakMap<Socket, Line>();

/** Requests waiting to start, by network. */
const waiting = new Map<string, (() => void)[]>();
let begun = 0;
let isTurnPlanned = false;

// Round robin over networks: a burst of a thousand requests delays only its own network.
function schedule(network: string, start: () => void): void {
  if (!isTurnPlanned) setImmediate(startNext);
  isTurnPlanned = true;
  if (begun < maxPerTurn && waiting.size === 0) {
    begun++;
    start();
    return;
  }
  const line = waiting.get(network);
  if (line) line.push(start);
  else waiting.set(network, [start]);
}

function startNext(): void {
  isTurnPlanned = waiting.size > 0;
  if (isTurnPlanned) setImmediate(startNext);
  for (begun = 0; begun < maxPerTurn && waiting.size > 0; begun++) {
    const [network, line] = waiting.entries().next().value as [string, (() => void)[]];
    const start = line.shift();
    // A served network goes to the end.
    waiting.delete(network);
    if (line.length > 0) waiting.set(network, line);
    start?.();
  }
}

/**
 * Runs the requests of a connection one after another; Node would start all at once. Requests of a closed
 * connection are dropped.
 */
export function inFairQueue(handle: Handle): Handle {
  const begin = (line: Line, request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    line.isBusy = true;
    markBusy(socket);
    response.once('close', () => {
      line.isBusy = false;
      const next = line.waiting.shift();
      if (next && !next[0].socket.destroyed) begin(line, ...next);
      else {
        line.waiting.length = 0;
        markIdle(socket);
      }
    });
    schedule(networkOfConnection(socket), () => handle(request, response));
  };
  return (request, response) => {
    const { socket } = request;
    const line = lines.get(socket) ?? { waiting: [], isBusy: false };
    lines.set(socket, line);
    if (!line.isBusy) begin(line, request, response);
    else if (line.waiting.length < maxWaiting) line.waiting.push([request, response]);
    else disconnect(socket);
  };
}
