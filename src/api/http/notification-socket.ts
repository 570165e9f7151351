// {host}/ws/admin/notifications?ticket=…: the WebSocket that pushes notifications.
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { config } from '../../../config/index.js';
import { currentIp, currentLanguage, currentTraceId, inContext } from '../../lib/process/context.js';
import { AppError, fail } from '../../lib/errors/app-error.js';
import { clientIp } from '../../lib/values/ip.js';
import { toJson } from '../../lib/values/json.js';
import { languageOf } from '../../lib/values/language.js';
import { logger } from '../../lib/watch/logger.js';
import { listen } from '../../lib/redis/pubsub.js';
import { consumeTicket } from '../../lib/redis/ticket.js';
import { changesChannel } from '../../lib/redis/changes.js';
import { isBlocked } from '../../models/office/blacklist.js';
import { authenticate, type Identity } from '../../models/access/identity.js';
import { deliveryChannel, type Delivery } from '../../models/office/notification.js';
import { currentVersions } from '../../models/tables/versions.js';
import { track } from './live-connections.js';
import { outcomeOf, refusalOf, retryAfterOf, securityHeaders, traceIdOf } from './middleware/envelope.js';
import { isAmbiguous } from './middleware/guard.js';
import { limitUpgrades } from './middleware/limits.js';

const path = '/ws/admin/notifications';
const maxMessage = 16 * 1024;
const pingMs = 30_000;

/** Min interval between two frames about changes. */
const quietMs = 500;

/** A client with more unread bytes is disconnected, so that it never delays others. */
const maxUnreadBytes = 1024 * 1024;

/** Close codes: RFC 6455 for going away and overload, the 4000 range for our own. */
const closeCodes = { revoked: 4401, shutdown: 1001, too_many: 4429 } as const;

interface Peer {
  socket: WebSocket;
  adminId: number;
  isAlive: boolean;
}

/** Accepts sockets and delivers what any process publishes. @returns a function that stops it */
export function acceptSockets(server: Server): () => void {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessage,
    perMessageDeflate: false,
  });
  sockets.on('wsClientError', (cause, stream, request) =>
    refuse(request, stream, new AppError('bad_request', { cause })),
  );
  const peers = new Set<Peer>();
  server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    if (stream.destroyed) return;
    stream.on('error', () => stream.destroy());
    const traceId = traceIdOf(request.headers['x-trace-id'] as string | undefined);
    const ip = clientIp(request);
    const language = languageOf(request.headers['accept-language']);
    void inContext({ traceId, language, ip }, async () => {
      try {
        const identity = await admit(request);
        sockets.handleUpgrade(request, stream, head, (socket) => {
          welcome(socket, { identity, ip }, peers);
          logUpgrade(request, { outcome: 'accepted', admin_id: identity.adminId });
        });
      } catch (error) {
        refuse(request, stream, error);
      }
    });
  });
  listen(deliveryChannel, (message) => deliverTo(peers, message as Delivery));
  listen(changesChannel, (message) => pushChanges(peers, message as string[]));
  const pings = setInterval(() => pingAll(peers), pingMs).unref();
  return () => clearInterval(pings);
}

// Everything is checked before the upgrade; a wrong origin does not consume the ticket.
async function admit(request: IncomingMessage): Promise<Identity> {
  const ip = clientIp(request);
  await limitUpgrades(ip);
  const target = request.url ?? '';
  const url = URL.canParse(target, 'http://host') ? new URL(target, 'http://host') : undefined;
  if (url?.pathname !== path || request.method !== 'GET') fail('route_not_found');
  if (isAmbiguous(request)) fail('bad_request');
  const versions = await currentVersions();
  if (await isBlocked(ip, versions)) fail('ip_blocked');
  const { origin } = request.headers;
  if (!isAllowedOrigin(request))
    fail('origin_not_allowed', { params: { origin: (origin ?? '').slice(0, 200) } });
  const [ticket = '', ...others] = url.searchParams.getAll('ticket');
  const jti = (others.length === 0 && (await consumeTicket(ticket))) || fail('ticket_invalid');
  const identity = await authenticate(jti, versions);
  if (identity.needsPasswordChange) fail('password_change_required');
  return identity;
}

// Browsers always send an origin; pages of this host, the public address and the configured origins are allowed.
function isAllowedOrigin({ headers: { origin, host } }: IncomingMessage): boolean {
  return (
    origin === undefined ||
    (URL.canParse(origin) && new URL(origin).host === host) ||
    origin === new URL(config.app.url).origin ||
    config.app.corsOrigins.includes(origin)
  );
}

// One line per upgrade, without the query, which is a ticket.
function logUpgrade(request: IncomingMessage, more: object): void {
  const { origin } = request.headers;
  logger.info({ path: request.url?.split('?')[0], ip: currentIp(), origin, ...more }, 'upgrade');
}

function refuse(request: IncomingMessage, stream: Duplex, error: unknown): void {
  const traceId = currentTraceId();
  const outcome = outcomeOf(error);
  if (!(error instanceof AppError)) logger.warn({ error }, 'a socket could not be opened');
  const body = toJson(refusalOf(outcome, currentLanguage(), traceId));
  const headers = {
    ...securityHeaders,
    ...retryAfterOf(outcome),
    'X-Trace-Id': traceId,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    // RFC 6455, 4.4.
    'Sec-WebSocket-Version': 13,
    Connection: 'close',
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  stream.end(`HTTP/1.1 ${outcome.status} Refused\r\n${head.join('')}\r\n${body}`);
  logUpgrade(request, { outcome: 'refused', status: outcome.status, reason: outcome.slug });
}

function welcome(
  socket: WebSocket,
  { identity, ip }: { identity: Identity; ip: string },
  peers: Set<Peer>,
): void {
  const peer = { socket, adminId: identity.adminId, isAlive: true };
  peers.add(peer);
  const release = track({
    identity,
    ip,
    route: 'socket',
    close: (reason) => end(socket, closeCodes[reason], reason),
  });
  socket.on('pong', () => (peer.isAlive = true));
  // Messages of clients are ignored; reading them keeps the connection moving.
  socket.on('message', () => undefined);
  socket.on('error', () => socket.terminate());
  socket.on('close', () => {
    peers.delete(peer);
    release();
  });
}

// A peer that does not answer the close handshake is disconnected.
function end(socket: WebSocket, code: number, reason: string): void {
  socket.close(code, reason);
  setTimeout(() => socket.terminate(), 500).unref();
}

function deliverTo(peers: Set<Peer>, { adminId, frame }: Delivery): void {
  const text = Buffer.from(JSON.stringify(frame));
  for (const peer of peers) {
    if (adminId !== undefined && peer.adminId !== adminId) continue;
    if (peer.socket.readyState !== WebSocket.OPEN) continue;
    if (peer.socket.bufferedAmount > maxUnreadBytes) peer.socket.terminate();
    else peer.socket.send(text, { binary: false });
  }
}

/** Lists changed since the last frame; names only, which are no secret to administrators. */
const changed = new Set<string>();
let pushTimer: NodeJS.Timeout | undefined;

// Frames about changes are throttled: the first is sent at once, the others together.
function pushChanges(peers: Set<Peer>, lists: readonly string[]): void {
  for (const list of lists) changed.add(list);
  if (pushTimer) return;
  const push = (): void => {
    const isAnything = changed.size > 0;
    if (isAnything)
      deliverTo(peers, { adminId: undefined, frame: { type: 'changed', data: { scopes: [...changed] } } });
    changed.clear();
    pushTimer = isAnything ? setTimeout(push, quietMs).unref() : undefined;
  };
  push();
}

function pingAll(peers: Set<Peer>): void {
  for (const peer of peers) {
    if (!peer.isAlive) {
      peer.socket.terminate();
      continue;
    }
    peer.isAlive = false;
    peer.socket.ping();
  }
}
