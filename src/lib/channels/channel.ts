// The contract of a payment channel: one file per channel, with the rules of its company and no access to our tables.
import type Joi from 'joi';
import { inBoth, say, type Language, type Text } from '../values/language.js';
import type { Money } from '../values/money.js';

/** Settings of a payment method, text by key. */
export type MethodConfig = Record<string, string>;

/** Input for placing a payment. */
export interface Placement {
  paymentNo: string;
  orderNo: string;
  amount: Money;
  /** When the order expires; null if it does not. */
  expireAt: Date | null;
  /** The notify URL of the channel. */
  notifyUrl: string;
  config: MethodConfig;
}

/** A message of a company as it arrived. */
export interface RawCallback {
  /** The body as signed; never parsed and written again. */
  raw: string;
  /** `content-type` and the `signatureHeaders` of the channel, by lower-case name. */
  headers: Readonly<Record<string, string | undefined>>;
  /** JSON or form fields; a repeated form name has a list of its values. */
  fields: Record<string, unknown>;
  /** Timestamps in it are compared with this, at a replay too. */
  receivedAt: Date;
}

/** What a callback says, unverified. */
export interface CallbackClaim {
  paymentNo: string;
  /** paid: money arrived; other: anything else, which changes nothing. */
  says: 'paid' | 'other';
  /** The company's number; a paid one without it is refused. */
  thirdPartyNo?: string;
  /** By the company's clock. */
  paidAt?: Date;
  /** Every amount that must equal that of the payment; none when it says other. */
  amounts: Money[];
  refund?: RefundClaim;
  /** The signed text, where the same can be sent as other fields, or in another order. */
  signed?: string;
  /** For people, unsealed. */
  fields: Record<string, unknown>;
}

/** What a callback says about a refund, made here or not. */
export interface RefundClaim {
  /** The number it was made under: ours, or one that was made up elsewhere. */
  refundNo?: string;
  /** The sum of all refunds of the payment. */
  total?: Money;
  /** No money goes back. */
  hasFailed?: boolean;
}

/** forged: signature or clock; foreign: another merchant, application, seller, currency. */
type Authenticity = 'authentic' | 'forged' | 'foreign';

/** A payment as its channel knows it. */
export interface ChannelPayment {
  paymentNo: string;
  amount: Money;
  config: MethodConfig;
}

/**
 * A signed answer about a payment. waiting: the customer may still pay; absent: unknown to the company, or
 * not opened by the customer yet; closed and failed: nobody can pay it any more.
 */
export interface TradeAnswer {
  state: 'paid' | 'waiting' | 'closed' | 'failed' | 'absent';
  /** The state in the company's terms, up to 50 characters. */
  code: string;
  /** What it claims of a paid one; without number or amount it is incomplete and refused. */
  thirdPartyNo?: string;
  amount?: Money;
  /** By the company's clock. */
  paidAt?: Date;
  /** Of a paid one: money has gone back already. */
  isRefunded?: boolean;
  /** For people. */
  fields: Record<string, unknown>;
}

/** A refund as its channel needs to know it. */
export interface RefundOrder extends ChannelPayment {
  /** The company's number of the payment. */
  thirdPartyNo: string;
  refundNo: string;
  refund: Money;
  reason: string;
}

/**
 * A signed answer about a refund. stuck: neither done nor failed until a person acts at the company; absent: unknown to
 * the company.
 */
export interface RefundAnswer {
  state: 'succeeded' | 'processing' | 'failed' | 'stuck' | 'absent';
  /** The state in the company's terms, up to 50 characters. */
  code: string;
  /** The company's number of the refund. */
  channelNo?: string;
  /** What was refunded by it, where the company says so. */
  amount?: Money;
  /** By the company's clock. */
  at?: Date;
}

/** The company's limits. */
export interface RefundLimits {
  /** Days after the payment. */
  withinDays: number;
  /** Refunds of one payment. */
  maxRefunds: number;
  /** Wait between two of them. */
  apartMs: number;
}

/** Sends refunds and asks about them. */
export interface ChannelRefunds {
  limits: RefundLimits;
  /**
   * Sends a refund; repeated under the same number and amount it refunds once.
   *
   * @returns failed when the company refuses it for good
   * @throws ChannelFailure when nothing was learned, also for a refusal that may pass (no funds, a limit, the set-up)
   */
  send(order: RefundOrder, signal: AbortSignal): Promise<RefundAnswer>;
  /** Asks what became of a refund. @throws ChannelFailure when nothing was learned */
  query(order: RefundOrder, signal: AbortSignal): Promise<RefundAnswer>;
}

/** What only a real company has: results that it signs. PAYMENT_CHANNEL_RESULTS opens them. */
export interface ChannelResults {
  /** Keys that a method needs for them beyond those of placing; without one it cannot place. */
  requiredKeys: readonly string[];
  /**
   * Asks what became of a payment.
   *
   * @throws ChannelFailure when nothing was learned: silence, an error, an answer that is not signed or is
   * about another merchant or payment
   */
  query(payment: ChannelPayment, signal: AbortSignal): Promise<TradeAnswer>;
  /**
   * Closes a payment that nobody has paid.
   *
   * @returns ask: anything but a proven closing; the company must be asked what became of it
   * @throws ChannelFailure when nothing was learned
   */
  close(payment: ChannelPayment, signal: AbortSignal): Promise<'closed' | 'ask'>;
}

/** The payment company refused, was unreachable, or sent an invalid answer. */
export class ChannelFailure extends Error {
  readonly #reason: string | Text;

  /** @param reason for people: the company's own words if any, else ours in both languages */
  constructor(reason: string | Text, cause?: unknown) {
    super(typeof reason === 'string' ? reason : inBoth(reason), { cause });
    this.#reason = reason;
  }

  /** The reason, in that language if it is ours. */
  text(language: Language): string {
    return typeof this.#reason === 'string' ? this.#reason : say(this.#reason, language);
  }
}

/** The company has not taken the payment and does not know it: it was not sent, or refused. */
export class NotTaken extends ChannelFailure {}

/** The company's limits; beyond them a customer would only see its error page. */
interface PlacingLimits {
  minAmount: Money;
  maxAmount?: Money;
  /** Min remaining lifetime of the order. */
  minMs: number;
  /** A later expiry is not sent to the company. */
  maxMs?: number;
}

/** The result of checking a stored key. */
export interface KeyCheck {
  /** Name of the key in the configuration. */
  key: string;
  /** Why the key is wrong; undefined when it may be right. Reveals nothing of the key. */
  problem: Text | undefined;
}

export interface Channel {
  type: string;
  placingLimits?: PlacingLimits;
  /** Its configuration map: a text per key, built from `config-key.ts`. */
  configSchema: Joi.ObjectSchema<MethodConfig>;
  /** Keys that say whose account it is, and where: another account knows nothing of what is open in this one. */
  accountKeys?: readonly string[];
  /** Result of `place` and the company's callback, for the API documentation. */
  placedSchema: Joi.ObjectSchema;
  callbackSchema: Joi.ObjectSchema;
  /** Headers by which a callback is verified, in lower case; beside `content-type` no others are stored. */
  signatureHeaders?: readonly string[];
  /**
   * Places a payment and returns what the client needs to continue. Omitted: not implemented.
   *
   * @param signal aborts when the time for all of it is over
   * @throws ChannelFailure, NotTaken
   */
  place?(placement: Placement, signal: AbortSignal): Promise<Record<string, unknown>>;
  /**
   * Parses a callback. Omitted: callbacks are not implemented.
   *
   * @param configs of all methods of the type, deactivated ones too; none for a channel without `results`
   * @returns undefined when it claims nothing that can be read
   */
  read?(callback: RawCallback, configs: readonly MethodConfig[]): CallbackClaim | undefined;
  /** What the stored fields of a verified callback, as people see them, say about a refund. */
  refundIn?(fields: Record<string, unknown>): RefundClaim | undefined;
  /**
   * Verifies a callback under the payment's own method; also decides for methods without a secret.
   *
   * @throws ChannelFailure while the company's key is not available
   */
  isAuthentic?(
    callback: RawCallback,
    payment: ChannelPayment,
    signal: AbortSignal,
  ): Authenticity | Promise<Authenticity>;
  /** The acknowledgement that the company expects; omitted: the envelope. */
  accepted?: { status: 200 | 204; body?: string };
  results?: ChannelResults;
  /** Omitted: not implemented; the money can go to the balance of the user. */
  refunds?: ChannelRefunds;
  /** Signs or seals with each stored key and verifies the result. */
  checkKeys(config: MethodConfig): KeyCheck[];
  /** A success callback of that payment, signed as far as the stored keys allow. */
  sampleCallback(payment: ChannelPayment): Record<string, unknown>;
  /** Whether a query is answered from the local record. Omitted: not implemented. */
  answersLocally?: boolean;
}
