// The open sockets and event streams of this process; each is closed when its session, permission or address ends.
import { config } from '../../../config/index.js';
import { now } from '../../lib/values/clock.js';
import { AppError, fail } from '../../lib/errors/app-error.js';
import { every } from '../../lib/process/timers.js';
import { logger, throttled } from '../../lib/watch/logger.js';
import { gauge } from '../../lib/watch/metrics.js';
import { isBlocked } from '../../models/office/blacklist.js';
import { identityOf, type Identity } from '../../models/access/identity.js';
import { validSessions } from '../../models/access/online-admin.js';
import { currentVersions, type Versions } from '../../models/tables/versions.js';
import { mayCall } from '../declare/permission.js';
import { permissionOf, type Route } from '../declare/route.js';

interface LiveConnection {
  identity: Identity;
  /** Canonical address of the client. */
  ip: string;
  /** A socket, or the route of a stream. */
  route: 'socket' | Route;
  /** Closes it; `revoked` reports the end of its session. */
  close(reason: 'revoked' | 'shutdown' | 'too_many'): void;
}

/** Interval of the check of all sessions, permissions and addresses. */
const checkEveryMs = 500;
/** That a session is idle shows in its row only, not in the versions. */
const idleCheckMs = Math.min(60_000, config.auth.sessionIdleMs);
const maxSocketsEach = 10;

const open = new Set<LiveConnection>();
let stopChecks: (() => void) | undefined;
let closing = false;
/** The versions under which all connections were checked. */
let checked: Versions | undefined;
let lookedAt = 0;
/** Total number of connections registered. */
let arrivals = 0;

/**
 * Registers a connection. An administrator's eleventh socket closes the oldest; streams over `streamsPerAdmin`
 * are refused.
 *
 * @returns a function that removes it
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
  // Its session may have ended before it was registered.
  checked = undefined;
  // Once its opener has written its head: a stream that ends before would answer 404.
  if (closing) setImmediate(() => connection.close('shutdown'));
  stopChecks ??= every(checkEveryMs, closeEnded);
  return () => void open.delete(connection);
}

/** Number of open sockets. */
export const countSockets = (): number => [...open].filter(({ route }) => route === 'socket').length;

gauge('live_connections', 'open sockets and event streams', ['kind'], () => {
  const sockets = countSockets();
  return { socket: sockets, stream: open.size - sockets };
});

/** Closes everything, at the end of the process. */
export function closeConnections(): void {
  closing = true;
  stopChecks?.();
  stopChecks = undefined;
  for (const connection of open) connection.close('shutdown');
}

async function closeEnded(): Promise<void> {
  if (open.size === 0) return;
  const at = now();
  for (const connection of open) if (connection.identity.expiresAt <= at) connection.close('revoked');
  try {
    await closeChanged();
  } catch (error) {
    throttled('sessions of open connections', (count) =>
      logger.warn({ error, count }, 'checking the sessions of open connections failed'),
    );
  }
}

// Checks only what has changed, and idle sessions once a minute.
async function closeChanged(): Promise<void> {
  const versions = await currentVersions();
  const isSame =
    (config.auth.sessionIdleMs === 0 || Date.now() - lookedAt < idleCheckMs) &&
    checked?.identity === versions.identity &&
    checked.blacklist === versions.blacklist;
  if (isSame) return;
  // A connection opened during the read is not in it; the next check covers it.
  const looked = [...open];
  const before = arrivals;
  const valid = await validSessions([...new Set(looked.map(({ identity }) => identity.jti))]);
  for (const connection of looked) {
    const stays =
      valid.has(connection.identity.jti) &&
      !(await isBlocked(connection.ip, versions)) &&
      (await keepsRight(connection, versions));
    if (!stays) connection.close('revoked');
  }
  checked = arrivals === before ? versions : undefined;
  lookedAt = Date.now();
}

async function keepsRight({ identity, route }: LiveConnection, versions: Versions): Promise<boolean> {
  if (route === 'socket' || !permissionOf(route)) return true;
  try {
    return mayCall(await identityOf(identity.jti, versions), route);
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}
