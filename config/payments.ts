// The payment module: whether it is enabled, its gateways, and the deadline of callbacks.
import Joi from 'joi';
import { constant, list, words } from './environment.js';

/** Payment channels; src/lib/channels has one for each. */
const gatewayTypes = ['mock', 'wechat', 'alipay'] as const;

export type GatewayType = (typeof gatewayTypes)[number];

/** Channels whose company signs its results. */
const resultTypes: readonly string[] = ['wechat', 'alipay'] satisfies GatewayType[];

/** Words for all of them. */
const everyGateway = ['*', 'all'];

export interface PaymentsEnvironment {
  MODULE_PAYMENTS_ENABLED: boolean;
  PAYMENT_GATEWAYS_ENABLED: string;
  PAYMENT_CHANNEL_RESULTS: string;
  PAYMENT_UNSIGNED_MOCK_ALLOWED?: boolean;
  PAYMENT_LOCAL_GATEWAYS_ALLOWED: boolean;
  REFUND_APPROVAL_ABOVE: string;
}

export const paymentsSettings: Joi.StrictSchemaMap<PaymentsEnvironment> = {
  MODULE_PAYMENTS_ENABLED: Joi.boolean()
    .default(false)
    .description('offers the payment endpoints and menu; callbacks are served in any case'),
  PAYMENT_GATEWAYS_ENABLED: list(
    (word) => [...gatewayTypes, ...everyGateway].includes(word),
    `"{#word}", which is no gateway; there are ${gatewayTypes.join(', ')}`,
  ).description('enabled gateway types; empty, * or all means every one'),
  PAYMENT_CHANNEL_RESULTS: list(
    (word) => resultTypes.includes(word),
    `"{#word}", which has no results to open; there are ${resultTypes.join(', ')}`,
  ).description(
    `channels whose callbacks are verified and settled: ${resultTypes.join(', ')} (docs/channels.md); those of others are stored and answered 501`,
  ),
  PAYMENT_UNSIGNED_MOCK_ALLOWED: Joi.boolean().description(
    'accept mock callbacks of a method without a shared secret; false in production only',
  ),
  PAYMENT_LOCAL_GATEWAYS_ALLOWED: Joi.boolean()
    .default(false)
    .description('gateways may be plain http and private addresses, to try a channel out; not in production'),
  REFUND_APPROVAL_ABOVE: Joi.string()
    .allow('')
    .pattern(/^\d{1,13}(\.\d{1,2})?$/)
    .default('')
    .description(
      'a refund is approved by a second administrator if those of its payment come to more; 0: always, empty: never',
    ),
};

export function paymentsConfig(env: PaymentsEnvironment, production: boolean) {
  const named = words(env.PAYMENT_GATEWAYS_ENABLED);
  return {
    enabled: env.MODULE_PAYMENTS_ENABLED,
    /** Gateway types by name; `undefined` when all are enabled. */
    gateways: named.length === 0 || named.some((word) => everyGateway.includes(word)) ? undefined : named,
    /** Types whose results are open. */
    channelResults: words(env.PAYMENT_CHANNEL_RESULTS),
    unsignedMockAllowed: env.PAYMENT_UNSIGNED_MOCK_ALLOWED ?? !production,
    mockSignVisible: !production,
    localGatewaysAllowed: env.PAYMENT_LOCAL_GATEWAYS_ALLOWED && !production,
    /** Queries to payment companies, of all workers together. */
    asksPerSecond: constant('PAYMENT_QUERY_PER_SECOND', 10),
    /** How long a placed payment is followed after its expiry; also its lifetime if the order never expires. */
    followMs: constant('PAYMENT_FOLLOW_HOURS', 24) * 3_600_000,
    /** Decimal text; undefined for none. */
    refundApprovalAbove: env.REFUND_APPROVAL_ABOVE || undefined,
    gatewayTimeoutMs: constant('PAYMENT_GATEWAY_TIMEOUT_MS', 10_000),
    callbackWaitMs: constant('CALLBACK_WAIT_MS', 2000),
    /** A payment company must be answered within 2.5 s (docs/promises.md R8); network and load take part of that. */
    callbackDeadlineMs: constant('CALLBACK_DEADLINE_MS', 2000),
  };
}
