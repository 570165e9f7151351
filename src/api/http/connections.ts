// Connections to the HTTP server: how many there may be, what one of them may have under way, and whose turn it is.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { config } from '../../../config/index.js';
import { canonicalIp, isTrustedProxy, networkOf } from '../../lib/ip.js';

/** Requests that one connection may have waiting behind the one that is worked on (HTTP pipelining). */
const maxWaiting = 16;
/** Who sends more than that is not let in for so long. */
const turnedAwayMs = 10_000;

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

const open = new Map<Socket, string | undefined>();
/** How many of them each network has. */
const perNetwork = new Map<string, number>();
/** Connections without a request under way, the longest first: those that never had one, and the others. */
const [silent, resting] = [new Set<Socket>(), new Set<Socket>()];
/** Networks that have sent without reading, for a while: parsing what they send costs more than refusing them. */
const turnedAway = new Set<string>();

/**
 * Closes connections of one address beyond CONNECTIONS_PER_ADDRESS (IPv6: of one /64), and those of an address that was turned
 * away. Beyond CONNECTIONS_MAX the one that has been idle for the longest makes room. A trusted proxy speaks for many
 * addresses and counts among all only.
 */
export function boundConnections(server: Server): void {
  const { connectionsMax, connectionsPerAddress } = config.app;
  server.on('connection', (socket: Socket) => {
    const network = networkBehind(socket);
    const count = network ? (perNetwork.get(network) ?? 0) : 0;
    const isWelcome = count < connectionsPerAddress && !(network && turnedAway.has(network));
    if (!isWelcome || (open.size >= connectionsMax && !makeRoom())) {
      socket.destroy();
      return;
    }
    open.set(socket, network);
    silent.add(socket);
    if (network) perNetwork.set(network, count + 1);
    socket.once('close', () => leave(socket));
  });
}

/** The network of a client, or undefined behind a trusted proxy. */
function networkBehind({ remoteAddress = '' }: Socket): string | undefined {
  const address = canonicalIp(remoteAddress) ?? '';
  return isTrustedProxy(address) ? undefined : networkOf(address);
}

function makeRoom(): boolean {
  const idle = first(silent) ?? first(resting);
  if (!idle) return false;
  leave(idle);
  idle.destroy();
  return true;
}

const first = (sockets: Set<Socket>): Socket | undefined => sockets.values().next().value;

function leave(socket: Socket): void {
  releaseConnection(socket);
  open.delete(socket);
  silent.delete(socket);
  resting.delete(socket);
}

/** A connection that has become a WebSocket is bounded by the administrator it belongs to, and no longer by its address. */
export function releaseConnection(socket: Socket): void {
  const network = open.get(socket);
  silent.delete(socket);
  resting.delete(socket);
  if (network === undefined) return;
  open.set(socket, undefined);
  const left = (perNetwork.get(network) ?? 1) - 1;
  if (left > 0) perNetwork.set(network, left);
  else perNetwork.delete(network);
}

function turnAway(socket: Socket): void {
  const network = networkBehind(socket);
  socket.destroy();
  if (!network || turnedAway.has(network)) return;
  turnedAway.add(network);
  setTimeout(() => turnedAway.delete(network), turnedAwayMs).unref();
}

interface Line {
  waiting: [IncomingMessage, ServerResponse][];
  isBusy: boolean;
}

const lines = new WeakMap<Socket, Line>();

/** Requests begun in one turn of the event loop; the others wait for the next. */
const perTurn = 16;
/** Requests that wait to be begun, by network. */
const waiting = new Map<string, (() => void)[]>();
let begun = 0;
let isTurnPlanned = false;

// One of each network in turn: a thousand requests that come at once hold up their senders, and nobody else.
function startInTurn(network: string, start: () => void): void {
  if (!isTurnPlanned) setImmediate(takeTurn);
  isTurnPlanned = true;
  if (begun < perTurn && waiting.size === 0) {
    begun++;
    start();
    return;
  }
  const line = waiting.get(network);
  if (line) line.push(start);
  else waiting.set(network, [start]);
}

function takeTurn(): void {
  isTurnPlanned = waiting.size > 0;
  if (isTurnPlanned) setImmediate(takeTurn);
  for (begun = 0; begun < perTurn && waiting.size > 0; begun++) {
    const [network, line] = waiting.entries().next().value as [string, (() => void)[]];
    const start = line.shift();
    // Whoever has had a turn goes to the end.
    waiting.delete(network);
    if (line.length > 0) waiting.set(network, line);
    start?.();
  }
}

/**
 * Handles the requests of a connection one after the other, as they are answered; Node would begin all of them at once. A
 * client that has gone costs nothing more.
 */
export function inLine(handle: Handle): Handle {
  const begin = (line: Line, request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    line.isBusy = true;
    silent.delete(socket);
    resting.delete(socket);
    response.once('close', () => {
      line.isBusy = false;
      const next = line.waiting.shift();
      if (next && !next[0].socket.destroyed) begin(line, ...next);
      else {
        line.waiting.length = 0;
        if (open.has(socket) && !socket.destroyed) resting.add(socket);
      }
    });
    startInTurn(open.get(socket) ?? '', () => handle(request, response));
  };
  return (request, response) => {
    const { socket } = request;
    const line = lines.get(socket) ?? { waiting: [], isBusy: false };
    lines.set(socket, line);
    if (!line.isBusy) begin(line, request, response);
    else if (line.waiting.length < maxWaiting) line.waiting.push([request, response]);
    else turnAway(socket);
  };
}
