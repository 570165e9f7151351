// Connections to the HTTP server: how many there may be, and what one of them may have under way.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { config } from '../../config/index.js';
import { canonicalIp, isTrustedProxy, networkOf } from '../lib/ip.js';

/** Requests that one connection may have waiting behind the one that is worked on (HTTP pipelining). */
const mostWaiting = 16;

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Closes connections beyond CONNECTIONS_MAX, and those of one address beyond CONNECTIONS_PER_ADDRESS (IPv6: of one /64). A
 * trusted proxy speaks for many addresses and counts among all only.
 */
export function boundConnections(server: Server): void {
  const { connectionsMax, connectionsPerAddress } = config.app;
  server.maxConnections = connectionsMax;
  const open = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = canonicalIp(socket.remoteAddress ?? '') ?? '';
    if (isTrustedProxy(address)) return;
    const network = networkOf(address);
    const count = (open.get(network) ?? 0) + 1;
    if (count > connectionsPerAddress) {
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
    else socket.destroy();
  };
}
