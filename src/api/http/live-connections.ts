// The open sockets and event streams of this process: counted, and closed as soon as what they were opened with ends: the
// session, the right, the address.
import { config } from '../../../config/index.js';
import { now } from '../../lib/clock.js';
import { AppError, fail } from '../../lib/errors.js';
import { logger } from '../../lib/logger.js';
import { readMarks } from '../../lib/marks.js';
import { gauge } from '../../lib/watch/metrics.js';
import { isBlocked } from '../../models/office/blacklist.js';
import { identityOf, type Identity } from '../../models/access/identity.js';
import { validSessions } from '../../models/access/online-admin.js';
import { holds, stamp, type Stamp } from '../../models/tables/versions.js';
import { mayCall } from '../declare/permission.js';
import { permissionOf, type Route } from '../declare/route.js';

export interface LiveConnection {
  identity: Identity;
  /** Canonical address of the client. */
  ip: string;
  /** A socket, or the route of a stream. */
  route: 'socket' | Route;
  /** Ends it; `revoked` reports the end of its session. */
  close(reason: 'revoked' | 'shutdown' | 'too_many'): void;
}

/** Whatever ends shows within a second: sessions, rights and addresses are looked at this often, however many are open. */
const checkEveryMs = 500;
/** A session that has not been used shows in its row only. */
const idleCheckMs = Math.min(60_000, config.auth.sessionIdleMs);
const maxSocketsEach = 10;

const open = new Set<LiveConnection>();
let timer: NodeJS.Timeout | undefined;
let closing = false;
let stamps: [identity: Stamp, blacklist: Stamp] | undefined;
let lookedAt = 0;
/** How many connections were ever taken in. */
let arrivals = 0;

/**
 * Takes a connection in. Of more than ten sockets of an administrator the oldest goes; of more than STREAMS_PER_ADMIN streams
 * the new one is refused.
 *
 * @returns how to take it out
 * @throws too_many_streams
 */
export function track(connection: LiveConnection): () => void {
  const isSocket = connection.route === 'socket';
  const own = [...open].filter(
    ({ identity, route }) =>
      identity.adminId === connection.identity.adminId && (route === 'socket') === isSocket,
  );
  if (!isSocket && own.length >= config.app.streamsPerAdmin) fail('too_many_streams', { retryAfter: 60 });
  if (isSocket && own.length >= maxSocketsEach) own[0]?.close('too_many');
  open.add(connection);
  arrivals++;
  // What it was admitted with may have ended before it was taken in.
  stamps = undefined;
  if (closing) connection.close('shutdown');
  timer ??= setInterval(() => void closeEnded(), checkEveryMs).unref();
  return () => void open.delete(connection);
}

/** How many sockets are open. */
export function countSockets(): number {
  let sockets = 0;
  for (const { route } of open) if (route === 'socket') sockets++;
  return sockets;
}

gauge('live_connections', 'open sockets and event streams', ['kind'], () => {
  const sockets = countSockets();
  return { socket: sockets, stream: open.size - sockets };
});

/** Closes everything; for the end of the process. */
export function closeConnections(): void {
  closing = true;
  clearInterval(timer);
  timer = undefined;
  for (const connection of open) connection.close('shutdown');
}

async function closeEnded(): Promise<void> {
  if (open.size === 0) return;
  const at = now();
  for (const connection of open) if (connection.identity.expiresAt <= at) connection.close('revoked');
  try {
    await closeChanged();
  } catch (error) {
    logger.warn({ error }, 'what open connections hang on could not be checked');
  }
}

// Only what has changed since is looked at, and once a minute whether sessions are still used.
async function closeChanged(): Promise<void> {
  const [identityMark, blacklistMark] = await readMarks(['identity', 'blacklist']);
  const isSame =
    stamps !== undefined &&
    (config.auth.sessionIdleMs === 0 || Date.now() - lookedAt < idleCheckMs) &&
    (await holds('identity', stamps[0], identityMark)) &&
    (await holds('blacklist', stamps[1], blacklistMark));
  if (isSame) return;
  // A connection that opens while the sessions are read is not among them; the next look finds it.
  const looked = [...open];
  const before = arrivals;
  const fresh: typeof stamps = [
    await stamp('identity', identityMark),
    await stamp('blacklist', blacklistMark),
  ];
  const valid = await validSessions([...new Set(looked.map(({ identity }) => identity.jti))]);
  for (const connection of looked) {
    const stays =
      valid.has(connection.identity.jti) &&
      !(await isBlocked(connection.ip, blacklistMark)) &&
      (await keepsRight(connection, identityMark));
    if (!stays) connection.close('revoked');
  }
  stamps = arrivals === before ? fresh : undefined;
  lookedAt = Date.now();
}

async function keepsRight({ identity, route }: LiveConnection, mark: string | undefined): Promise<boolean> {
  if (route === 'socket' || !permissionOf(route)) return true;
  try {
    return mayCall(await identityOf(identity.jti, mark), route);
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}
