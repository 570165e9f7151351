// The contract of a payment channel: one file per channel, which knows its company's rules and nothing of our tables.
import type Joi from 'joi';
import { say, type Language, type Text } from '../language.js';
import type { Money } from '../money.js';

/** Settings of a payment method, text by key. */
export type MethodConfig = Record<string, string>;

/** What a channel must be told to take a payment. */
export interface Placement {
  paymentNo: string;
  orderNo: string;
  amount: Money;
  /** When the order can no longer be paid; null when it can for ever. */
  expireAt: Date | null;
  /** Where the channel calls back. */
  notifyUrl: string;
  /** Whether the caller may see what signs a trial's callback. */
  showsSignature: boolean;
  config: MethodConfig;
}

/** What a callback claims, before it is believed. */
export interface Notification {
  paymentNo: string;
  thirdPartyNo: string;
  /** Every amount the callback carries, under whatever name. */
  amounts: Money[];
}

/** The payment company refused, could not be reached, or answered what cannot be believed. */
export class ChannelFailure extends Error {
  readonly #reason: string | Text;

  /** @param reason for people: the company's own words where it has some, else ours; the message has both languages */
  constructor(reason: string | Text, cause?: unknown) {
    super(typeof reason === 'string' ? reason : `${reason.zh} / ${reason.en}`, { cause });
    this.#reason = reason;
  }

  /** The reason in that language, as far as it is ours. */
  text(language: Language): string {
    return typeof this.#reason === 'string' ? this.#reason : say(this.#reason, language);
  }
}

/** What the company takes; beyond it a customer would only meet its error page. */
export interface PlacingLimits {
  least: Money;
  most?: Money;
  /** The order must have at least this long to live. */
  minMs: number;
  /** An end that lies further away is not told to the company. */
  maxMs?: number;
}

/** What a look at a stored key came to. */
export interface KeyCheck {
  /** Name of the key in the configuration. */
  key: string;
  /** Why it cannot be right; undefined when nothing speaks against it. Tells nothing of the key. */
  problem: Text | undefined;
}

export interface Channel {
  type: string;
  placingLimits?: PlacingLimits;
  /** Its configuration map: a text per key, built from `config-key.ts`. */
  configSchema: Joi.ObjectSchema<MethodConfig>;
  /** What `place` returns, and what the company sends to the notify address: for the API documentation. */
  placedSchema: Joi.ObjectSchema;
  callbackSchema: Joi.ObjectSchema;
  /**
   * Places a payment and returns what the client needs to go on. Missing: not implemented.
   *
   * @param signal aborts when the time for all of it is over
   * @throws ChannelFailure
   */
  place?(placement: Placement, signal: AbortSignal): Promise<Record<string, unknown>>;
  /** Reads a callback's fields. Missing: callbacks are not implemented. @returns undefined when it is no success notice */
  read?(fields: Record<string, unknown>): Notification | undefined;
  /**
   * The payment a callback names, where that takes more than reading `out_trade_no`; it is not believed.
   *
   * @param configs of the methods of this type
   */
  nameOf?(fields: Record<string, unknown>, configs: readonly MethodConfig[]): string | undefined;
  /** Whether the callback's signature fits the payment; decides what happens when the method has no secret too. */
  isAuthentic?(
    fields: Record<string, unknown>,
    payment: { paymentNo: string; amount: Money; config: MethodConfig },
  ): boolean;
  /** Signs, or seals, with each stored key and verifies the result. */
  checkKeys(config: MethodConfig): KeyCheck[];
  /** A success callback of that payment, signed as the company would as far as the stored keys allow. */
  sampleCallback(payment: {
    paymentNo: string;
    amount: Money;
    config: MethodConfig;
  }): Record<string, unknown>;
  /** Whether asking for the state of a payment is answered from the local record. Missing: not implemented. */
  answersLocally?: boolean;
}
