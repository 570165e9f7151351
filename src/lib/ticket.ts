// One-time tickets: handed out once, good for one use within 60 seconds, kept in Redis only as a digest.
import { createHash } from 'node:crypto';
import { randomToken } from './random-id.js';
import { key, patientRedis } from './redis.js';

export const ticketSeconds = 60;

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

const ticketKey = (ticket: string): string =>
  key('ticket', createHash('sha256').update(ticket).digest('hex'));
