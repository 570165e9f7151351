// The contract of a payment channel: one file per channel, which knows its company's rules and nothing of our tables.
import type { Money } from '../money.js';

export const channelTypes = ['mock', 'wechat', 'alipay'] as const;

export type ChannelType = (typeof channelTypes)[number];

/** Settings of a payment method, text by key. */
export type MethodConfig = Record<string, string>;

/** One key of a channel's configuration map. */
export interface ConfigKey {
  name: string;
  required: boolean;
  /** Stored encrypted and never answered. */
  secret: boolean;
  /** Must be an https or http URL. */
  url?: boolean;
}

/** What a channel must be told to take a payment. */
export interface Placement {
  paymentNo: string;
  amount: Money;
  /** Where the channel calls back. */
  notifyUrl: string;
  config: MethodConfig;
}

/** What a callback claims, before it is believed. */
export interface Notification {
  paymentNo: string;
  thirdPartyNo: string;
  /** Every amount the callback carries, under whatever name. */
  amounts: Money[];
}

export interface Channel {
  type: ChannelType;
  configKeys: readonly ConfigKey[];
  /** Places a payment and returns what the client needs to go on. Missing: not implemented. */
  place?(placement: Placement): Promise<Record<string, unknown>>;
  /** Reads a callback's fields. Missing: callbacks are not implemented. @returns undefined when it is no success notice */
  read?(fields: Record<string, unknown>): Notification | undefined;
  /** Whether the callback's signature fits the payment; decides what happens when the method has no secret too. */
  isAuthentic?(
    fields: Record<string, unknown>,
    payment: { paymentNo: string; amount: Money; config: MethodConfig },
  ): boolean;
  /** Whether asking for the state of a payment is answered from the local record. Missing: not implemented. */
  answersLocally?: boolean;
}
