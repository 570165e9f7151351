// Dials, hooks and counts of a payment company's emulator.
import type { ServerResponse } from 'node:http';
import { reset } from '../reset.js';

export type Operation = 'query' | 'close' | 'refund' | 'queryRefund';

/**
 * How it answers. It does what it is asked first, unless it is failing, busy or refusing; when it is unsure it answers
 * that it does not know; from incomplete on it signs what is false.
 */
export type ResultMood =
  | 'well'
  | 'failing'
  | 'busy'
  | 'refusing'
  | 'unsure'
  | 'unsigned'
  | 'forging'
  | 'replaying'
  | 'garbled'
  | 'silent'
  | 'slow'
  | 'cut'
  | 'resetting'
  | 'incomplete'
  | 'otherPayment'
  | 'otherRefund'
  | 'otherMerchant'
  | 'otherApplication'
  | 'otherCurrency'
  | 'otherAmount'
  | 'newWord';

/** A request that was signed rightly. */
interface ResultRequest {
  operation: Operation;
  /** Number of the payment or refund as the company has it. */
  number: string;
  content: object;
  at: Date;
}

type Hook = (operation: Operation, number: string) => unknown;

const nothing: Hook = () => undefined;

export class ResultDials {
  mood: ResultMood = 'well';
  /** By operation, instead of `mood`. */
  moods: Partial<Record<Operation, ResultMood>> = {};
  /** Awaited before it does what it is asked to. */
  before: Hook = nothing;
  /** Awaited when that is done, before it answers. */
  after: Hook = nothing;
  /** In the order they came. */
  readonly requests: ResultRequest[] = [];

  moodOf(operation: Operation): ResultMood {
    return this.moods[operation] ?? this.mood;
  }

  /** Count of these requests. @param number our number, or the company's short form of it */
  count(operation: Operation, number?: string): number {
    const isMeant = (one: ResultRequest): boolean =>
      one.operation === operation && (number === undefined || one.number.slice(-26) === number.slice(-26));
    return this.requests.filter(isMeant).length;
  }

  /** Behaves well again; what was asked stays counted. */
  reset(): void {
    Object.assign(this, { mood: 'well', moods: {}, before: nothing, after: nothing });
  }
}

/** An answer as it is sent. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Sends an answer, or what the mood makes of it on its way. */
export function sendAnswer(
  response: ServerResponse,
  { status, headers, body }: Answer,
  mood: ResultMood,
): void {
  const send = (): unknown => response.writeHead(status, headers).end(body);
  if (mood === 'silent') return;
  if (mood === 'slow') setTimeout(send, 700);
  else if (mood === 'cut') {
    response.writeHead(status, { ...headers, 'Content-Length': String(Buffer.byteLength(body) + 1) });
    response.write(body, () => response.destroy());
  } else if (mood === 'resetting') {
    if (response.socket) reset(response.socket);
  } else send();
}
