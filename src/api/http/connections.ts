// Connections to the HTTP server: how many there may be, and which of them are closed for others.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { config } from '../../../config/index.js';
import { canonicalIp, isTrustedProxy, networkOf } from '../../lib/ip.js';

/** Time for which a refused network stays refused. */
const disconnectedMs = 10_000;

/** Open connections with their network; undefined for those that do not count for one. */
const open = new Map<Socket, string | undefined>();
/** How many of them each network has. */
const perNetwork = new Map<string, number>();
/** Connections without a request under way, the longest first: those that never had one, and the others. */
const [silent, resting] = [new Set<Socket>(), new Set<Socket>()];
const disconnected = new Set<string>();

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
    const isWelcome = count < connectionsPerAddress && !(network && disconnected.has(network));
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
}

/** A connection that has become a WebSocket is bounded by the administrator it belongs to, and no longer by its address. */
export function releaseConnection(socket: Socket): void {
  const network = open.get(socket);
  markBusy(socket);
  if (network === undefined) return;
  open.set(socket, undefined);
  const left = (perNetwork.get(network) ?? 1) - 1;
  if (left > 0) perNetwork.set(network, left);
  else perNetwork.delete(network);
}

/** The network that a connection counts for; empty for those that count among all only. */
export const networkOfConnection = (socket: Socket): string => open.get(socket) ?? '';

/** A request of the connection is under way: it is not closed for another one. */
export function markBusy(socket: Socket): void {
  silent.delete(socket);
  resting.delete(socket);
}

/** No request of the connection is under way any more. */
export function markIdle(socket: Socket): void {
  if (open.has(socket) && !socket.destroyed) resting.add(socket);
}

/** Closes a connection and lets its network in no more for a while: parsing what it sends costs more than refusing it. */
export function disconnect(socket: Socket): void {
  const network = networkBehind(socket);
  socket.destroy();
  if (!network || disconnected.has(network)) return;
  disconnected.add(network);
  setTimeout(() => disconnected.delete(network), disconnectedMs).unref();
}
