// The open sockets and event streams of this process: counted, and closed as soon as their session ends.
import { logger } from '../lib/logger.js';
import { readMarks } from '../lib/versions.js';
import { identityScope } from '../models/identity.js';
import { validSessions } from '../models/online-admin.js';

export interface LiveConnection {
  adminId: number;
  jti: string;
  kind: 'socket' | 'stream';
  /** Ends it; `revoked` tells the client that its session has ended. */
  close(reason: 'revoked' | 'shutdown' | 'too_many'): void;
}

/** Revocation shows within a second: the mark of sessions and rights is looked at this often, however many are open. */
const checkEveryMs = 500;
const mostSocketsEach = 10;

const open = new Set<LiveConnection>();
let timer: NodeJS.Timeout | undefined;
let seenMark: string | undefined;
let closing = false;

/** Takes a connection in. Of more than ten sockets of an administrator the oldest goes. @returns how to take it out */
export function track(connection: LiveConnection): () => void {
  if (closing) connection.close('shutdown');
  open.add(connection);
  timer ??= setInterval(() => void closeRevoked(), checkEveryMs).unref();
  if (connection.kind === 'socket') {
    const own = [...open].filter(({ kind, adminId }) => kind === 'socket' && adminId === connection.adminId);
    if (own.length > mostSocketsEach) own[0]?.close('too_many');
  }
  return () => void open.delete(connection);
}

/** How many sockets are open. */
export function countSockets(): number {
  let sockets = 0;
  for (const { kind } of open) if (kind === 'socket') sockets++;
  return sockets;
}

/** Closes everything; for the end of the process. */
export function closeConnections(): void {
  closing = true;
  clearInterval(timer);
  timer = undefined;
  for (const connection of open) connection.close('shutdown');
}

async function closeRevoked(): Promise<void> {
  if (open.size === 0) return;
  const [mark] = await readMarks([identityScope]);
  if (mark !== undefined && mark === seenMark) return;
  try {
    const valid = await validSessions([...new Set([...open].map(({ jti }) => jti))]);
    for (const connection of open) if (!valid.has(connection.jti)) connection.close('revoked');
    seenMark = mark;
  } catch (error) {
    logger.warn({ error }, 'sessions of open connections could not be checked');
  }
}
