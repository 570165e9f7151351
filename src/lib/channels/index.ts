// The registry of payment channels and those this deployment has enabled.
import Joi from 'joi';
import { config } from '../../../config/index.js';
import type { GatewayType } from '../../../config/payments.js';
import { keywords } from '../input/schema.js';
import { alipay } from './alipay.js';
import type { Channel, ChannelResults, MethodConfig } from './channel.js';
import { mock } from './mock.js';
import { wechat } from './wechat.js';

const registry: Record<GatewayType, Channel> = { mock, wechat, alipay };

export const allChannels: readonly Channel[] = Object.values(registry);

/** All types, enabled or not. */
export const channelTypes = allChannels.map(({ type }) => type);

/** A type in a request; whether there is such a channel is checked later. */
export const channelType = () =>
  keywords(Joi.string(), { enum: channelTypes }).description('Type of the payment channel');

const channels = new Map(allChannels.map((channel) => [channel.type, channel]));

/** The channel of that type, enabled or not. */
export const channelOf = (type: string): Channel | undefined => channels.get(type);

/** Whether PAYMENT_GATEWAYS_ENABLED includes that type. */
export const isEnabled = (type: string): boolean => config.payments.gateways?.includes(type) ?? true;

/**
 * Whether the results of that channel are open: PAYMENT_CHANNEL_RESULTS includes its type, or it has no company that
 * signs them. Those of others are answered 501.
 */
export const hasOpenResults = ({ type, results }: Channel): boolean =>
  !results || config.payments.channelResults.includes(type);

/** What can be asked of the company of that channel; undefined while its results are closed, or it has none. */
export const openResults = (channel: Channel | undefined): ChannelResults | undefined =>
  channel && hasOpenResults(channel) ? channel.results : undefined;

/** The keys that a method lacks for the results of its channel; none while they are closed. */
export function missingKeys(channel: Channel, config: MethodConfig): string[] {
  const { requiredKeys = [] } = openResults(channel) ?? {};
  return requiredKeys.filter((name) => !config[name]);
}

/** The enabled types, in the order of the registry. */
export const enabledTypes = (): string[] => [...channels.keys()].filter(isEnabled);

/** The enabled types whose results are open. */
export const openTypes = (): string[] =>
  allChannels
    .filter(hasOpenResults)
    .map(({ type }) => type)
    .filter(isEnabled);

/** The notify URL unless the method has its own (spec.md, rule 7); a tenant's URL carries its code. */
export function defaultNotifyUrl(type: string): string {
  const tenant = config.app.tenant ? `/${config.app.tenant}` : '';
  return `${config.app.url}/api/payment/notify/${type}${tenant}`;
}
