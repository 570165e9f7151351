// The registry of payment channels and those this deployment has enabled.
import { config } from '../../../config/index.js';
import type { GatewayType } from '../../../config/payments.js';
import { alipay } from './alipay.js';
import type { Channel } from './channel.js';
import { mock } from './mock.js';
import { wechat } from './wechat.js';

const registry: Record<GatewayType, Channel> = { mock, wechat, alipay };

/** All channels. */
export const allChannels: readonly Channel[] = Object.values(registry);

const channels = new Map(allChannels.map((channel) => [channel.type, channel]));

/** The channel of that type, enabled or not. */
export const channelOf = (type: string): Channel | undefined => channels.get(type);

/** Whether PAYMENT_GATEWAYS_ENABLED includes that type. */
export const isEnabled = (type: string): boolean => config.payments.gateways?.includes(type) ?? true;

/** The enabled types, in the order of the registry. */
export const enabledTypes = (): string[] => [...channels.keys()].filter(isEnabled);

/** The notify URL unless the method has its own (spec.md, rule 7); a tenant's URL carries its code. */
export function defaultNotifyUrl(type: string): string {
  const tenant = config.app.tenant ? `/${config.app.tenant}` : '';
  return `${config.app.url}/api/payment/notify/${type}${tenant}`;
}
