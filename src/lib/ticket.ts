// One-time tickets: handed out once, good for one use within 60 seconds, kept in Redis only as a digest.
import { createHash } from 'node:crypto';
import { config } from '../../config/index.js';
import { randomToken } from './random-id.js';
import { key, patientRedis } from './redis.js';

export const ticketSeconds = 60;

/** As long as a session lasts at most; each use asks whether it still does. */
const streamSeconds = Math.ceil(config.auth.jwtTtlMinutes * 60);

/** A new ticket that stands for that value. @throws when Redis is unavailable */
export async function issueTicket(value: string): Promise<string> {
  const ticket = randomToken(24);
  await patientRedis.set(ticketKey(ticket), value, 'EX', ticketSeconds);
  return ticket;
}

/** What the ticket stands for; it is used up by this, also among many callers at once. @throws when Redis is unavailable */
export async function consumeTicket(ticket: string): Promise<string | undefined> {
  return (await patientRedis.getdel(ticketKey(ticket))) ?? undefined;
}

/**
 * What the ticket of an event stream stands for. It opens that one stream again and again while its session lasts, because a
 * browser reconnects under the same address.
 *
 * @param path of the stream it was first used for
 * @throws when Redis is away
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
