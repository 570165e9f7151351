// The contract of a payment channel: one file per channel, with the rules of its company and no access to our tables.
import type Joi from 'joi';
import { say, type Language, type Text } from '../language.js';
import type { Money } from '../money.js';

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
  /** Whether the caller may see the signature of a trial callback. */
  showsSignature: boolean;
  config: MethodConfig;
}

/** The claims of a callback, unverified. */
export interface Notification {
  paymentNo: string;
  thirdPartyNo: string;
  /** Every amount in the callback, under any name. */
  amounts: Money[];
}

/** The payment company refused, was unreachable, or sent an invalid answer. */
export class ChannelFailure extends Error {
  readonly #reason: string | Text;

  /**
   * @param reason for people: the company's own words if any, else ours in both languages
   */
  constructor(reason: string | Text, cause?: unknown) {
    super(typeof reason === 'string' ? reason : `${reason.zh} / ${reason.en}`, { cause });
    this.#reason = reason;
  }

  /** The reason in that language, if it is ours. */
  text(language: Language): string {
    return typeof this.#reason === 'string' ? this.#reason : say(this.#reason, language);
  }
}

/** The company's limits; beyond them a customer would only see its error page. */
export interface PlacingLimits {
  least: Money;
  most?: Money;
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
  /** Result of `place` and the company's callback, for the API documentation. */
  placedSchema: Joi.ObjectSchema;
  callbackSchema: Joi.ObjectSchema;
  /**
   * Places a payment and returns what the client needs to continue. Omitted: not implemented.
   *
   * @param signal aborts when the time for all of it is over
   * @throws ChannelFailure
   */
  place?(placement: Placement, signal: AbortSignal): Promise<Record<string, unknown>>;
  /**
   * Parses a callback. Omitted: callbacks are not implemented.
   *
   * @returns undefined when it is no success notice
   */
  read?(fields: Record<string, unknown>): Notification | undefined;
  /**
   * The payment number of a callback, if it is not simply `out_trade_no`; unverified.
   *
   * @param configs of the methods of this type
   */
  nameOf?(fields: Record<string, unknown>, configs: readonly MethodConfig[]): string | undefined;
  /** Whether the callback's signature is valid for the payment; also decides for methods without a secret. */
  isAuthentic?(
    fields: Record<string, unknown>,
    payment: { paymentNo: string; amount: Money; config: MethodConfig },
  ): boolean;
  /** Signs or seals with each stored key and verifies the result. */
  checkKeys(config: MethodConfig): KeyCheck[];
  /** A success callback of that payment, signed as far as the stored keys allow. */
  sampleCallback(payment: {
    paymentNo: string;
    amount: Money;
    config: MethodConfig;
  }): Record<string, unknown>;
  /** Whether a query is answered from the local record. Omitted: not implemented. */
  answersLocally?: boolean;
}
