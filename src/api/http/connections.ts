// Limits of HTTP connections, and which are closed to make room.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { config } from '../../../config/index.js';
import { canonicalIp, isTrustedProxy, networkOf } from '../../lib/ip.js';

/** Time for which a disconnected network stays refused. */
const disconnectedMs = 10_000;

/** Open connections with their network; undefined for those that do not count for one. */
const open = new Map<Socket, string | undefined>();
/** Number of connections per network. */
const perNetwork = new Map<string, number>();
/** Connections without a running request, longest first: those without any request yet, and the others. */
const [silent, resting] = [new Set<Socket>(), new Set<Socket>()];
const disconnected = new Set<string>();

/**
 * Closes connections beyond CONNECTIONS_PER_ADDRESS of an address (IPv6: of a /64), and those of a disconnected
 * network. Beyond CONNECTIONS_MAX the longest idle one is closed. A trusted proxy stands for many addresses and
 * counts only towards the total.
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

/** The network of a client; undefined behind a trusted proxy. */
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

/** A WebSocket counts for its administrator instead of its address. */
export function releaseConnection(socket: Socket): void {
  const network = open.get(socket);
  markBusy(socket);
  if (network === undefined) return;
  open.set(socket, undefined);
  const left = (perNetwork.get(network) ?? 1) - 1;
  if (left > 0) perNetwork.set(network, left);
  else perNetwork.delete(network);
}

/** The network a connection counts for; empty if only towards the total. */
export const networkOfConnection = (socket: Socket): string => open.get(socket) ?? '';

/** Marks a connection as busy, so that it is not closed to make room. */
export function markBusy(socket: Socket): void {
  silent.delete(socket);
  resting.delete(socket);
}

/** Marks a connection as idle. */
export function markIdle(socket: Socket): void {
  if (open.has(socket) && !socket.destroyed) resting.add(socket);
}

/**
 * Closes a connection and refuses its network for a while: parsing its requests costs more than refusing it.
 */
export function disconnect(socket: Socket): void {
  const network = networkBehind(socket);
  socket.destroy();
  if (!network || disconnected.has(network)) return;
  disconnected.add(network);
  setTimeout(() => disconnected.delete(network), disconnectedMs).unref();
}
