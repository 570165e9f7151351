// Connections to the HTTP server: how many there may be, and what one of them may have under way.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { config } from '../../config/index.js';
import { canonicalIp, isTrustedProxy, networkOf } from '../lib/ip.js';

/** Requests that one connection may have waiting behind the one that is worked on (HTTP pipelining). */
const mostWaiting = 16;
/** Who sends more than that is not let in for so long. */
const turnedAwayMs = 10_000;

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Closes connections beyond CONNECTIONS_MAX, those of one address beyond CONNECTIONS_PER_ADDRESS (IPv6: of one /64), and those
 * of an address that was turned away. A trusted proxy speaks for many addresses and counts among all only.
 */
export function boundConnections(server: Server): void {
  const { connectionsMax, connectionsPerAddress } = config.app;
  server.maxConnections = connectionsMax;
  const open = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const network = networkBehind(socket);
    if (!network) return;
    const count = (open.get(network) ?? 0) + 1;
    if (count > connectionsPerAddress || turnedAway.has(network)) {
      socket.destroy();
      return;
    }
    open.set(network, count);
    const release = (): void => {
      if (!leave.delete(socket)) return;
      const left = (open.get(network) ?? 1) - 1;
      if (left > 0) open.set(network, left);
      else open.delete(network);
    };
    leave.set(socket, release);
    socket.once('close', release);
  });
}

const leave = new WeakMap<Socket, () => void>();

/** The network of a client, or undefined behind a trusted proxy, which speaks for many. */
function networkBehind({ remoteAddress = '' }: Socket): string | undefined {
  const address = canonicalIp(remoteAddress) ?? '';
  return isTrustedProxy(address) ? undefined : networkOf(address);
}

/** Networks that have sent without reading, for a while: parsing what they send costs more than refusing them. */
const turnedAway = new Set<string>();

function turnAway(socket: Socket): void {
  const network = networkBehind(socket);
  socket.destroy();
  if (!network || turnedAway.has(network)) return;
  turnedAway.add(network);
  setTimeout(() => turnedAway.delete(network), turnedAwayMs).unref();
}

/** A connection that has become a WebSocket is bounded by the administrator it belongs to, and no longer by its address. */
export function releaseConnection(socket: Socket): void {
  leave.get(socket)?.();
}

interface Line {
  waiting: [IncomingMessage, ServerResponse][];
  isBusy: boolean;
}

const lines = new WeakMap<Socket, Line>();

/**
 * Handles the requests of a connection one after the other, as they are answered; Node would begin all of them at once. A
 * client that has gone costs nothing more.
 */
export function inLine(handle: Handle): Handle {
  const begin = (line: Line, request: IncomingMessage, response: ServerResponse): void => {
    line.isBusy = true;
    response.once('close', () => {
      line.isBusy = false;
      const next = line.waiting.shift();
      if (next && !next[0].socket.destroyed) begin(line, ...next);
      else line.waiting.length = 0;
    });
    handle(request, response);
  };
  return (request, response) => {
    const { socket } = request;
    const line = lines.get(socket) ?? { waiting: [], isBusy: false };
    lines.set(socket, line);
    if (!line.isBusy) begin(line, request, response);
    else if (line.waiting.length < mostWaiting) line.waiting.push([request, response]);
    else turnAway(socket);
  };
}
