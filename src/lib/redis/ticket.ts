// One-time tickets: valid for one use within 60 seconds, stored in Redis as digests.
import { createHash } from 'node:crypto';
import { config } from '../../../config/index.js';
import { randomToken } from '../secrets/random-id.js';
import { key, patientRedis } from './redis.js';

export const ticketSeconds = 60;

/** As long as a session at most; each use checks the session. */
const streamSeconds = Math.ceil(config.auth.jwtTtlMinutes * 60);

/** A new ticket for that value. @throws when Redis is unavailable */
export async function issueTicket(value: string): Promise<string> {
  const ticket = randomToken(24);
  await patientRedis.set(ticketKey(ticket), value, 'EX', ticketSeconds);
  return ticket;
}

/** Consumes a ticket and returns its value, once even among concurrent callers. @throws when Redis is unavailable */
export async function consumeTicket(ticket: string): Promise<string | undefined> {
  return (await patientRedis.getdel(ticketKey(ticket))) ?? undefined;
}

/**
 * The value of an event-stream ticket. It opens that one stream repeatedly while its session lasts, because
 * browsers reconnect to the same URL.
 *
 * @param path of the stream it was first used for
 * @throws when Redis is unavailable
 */
export async function consumeStreamTicket(ticket: string, path: string): Promise<string | undefined> {
  const kept = `${ticketKey(ticket)}:stream`;
  const fresh = await consumeTicket(ticket);
  if (fresh !== undefined) {
    await patientRedis.set(kept, JSON.stringify([fresh, path]), 'EX', streamSeconds);
    return fresh;
  }
  const [value, first] = JSON.parse((await patientRedis.get(kept)) ?? '[]') as string[];
  return first === path ? value : undefined;
}

const ticketKey = (ticket: string): string =>
  key('ticket', createHash('sha256').update(ticket).digest('hex'));
