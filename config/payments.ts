// The payment module: whether it is enabled, its gateways, and the deadline of callbacks.
import Joi from 'joi';
import { list, words } from './environment.js';

/** Payment channels; src/lib/channels has one for each. */
export const gatewayTypes = ['mock', 'wechat', 'alipay'] as const;

export type GatewayType = (typeof gatewayTypes)[number];

/** Words for all of them. */
const everyGateway = ['*', 'all'];

export interface PaymentsEnvironment {
  MODULE_PAYMENTS_ENABLED: boolean;
  PAYMENT_GATEWAYS_ENABLED: string;
  PAYMENT_UNSIGNED_MOCK_ALLOWED?: boolean;
  PAYMENT_MOCK_SIGN_VISIBLE?: boolean;
  PAYMENT_LOCAL_GATEWAYS_ALLOWED: boolean;
  PAYMENT_GATEWAY_TIMEOUT_MS: number;
  CALLBACK_WAIT_MS: number;
  CALLBACK_DEADLINE_MS: number;
  CALLBACK_RETENTION_DAYS: number;
  CALLBACK_REFUSED_RETENTION_DAYS: number;
}

/** A provider must be answered within 2.5 s (docs/promises.md R8); network and load take part of that. */
const maxDeadlineMs = 2150;

export const paymentsSchema = Joi.object<PaymentsEnvironment, true>({
  MODULE_PAYMENTS_ENABLED: Joi.boolean()
    .default(false)
    .description('offers the payment endpoints and menu; callbacks are served in any case'),
  PAYMENT_GATEWAYS_ENABLED: list(
    (word) => [...gatewayTypes, ...everyGateway].includes(word),
    `"{#word}", which is no gateway; there are ${gatewayTypes.join(', ')}`,
  ).description('enabled gateway types; empty, * or all means every one'),
  PAYMENT_UNSIGNED_MOCK_ALLOWED: Joi.boolean().description(
    'accept mock callbacks of a method without a shared secret; false in production only',
  ),
  PAYMENT_MOCK_SIGN_VISIBLE: Joi.boolean().description(
    'placing with the mock channel answers the signature of its callback; false in production, where true shows it to those who may change payment methods',
  ),
  PAYMENT_LOCAL_GATEWAYS_ALLOWED: Joi.boolean()
    .default(false)
    .description('gateways may be plain http and private addresses, to try a channel out; not in production'),
  PAYMENT_GATEWAY_TIMEOUT_MS: Joi.number()
    .integer()
    .min(500)
    .max(10_000)
    .default(10_000)
    .description('placing a payment with its channel may take this long in all'),
  CALLBACK_WAIT_MS: Joi.number()
    .integer()
    .min(0)
    .max(30_000)
    .default(2000)
    .description(
      'a callback waits this long for its settlement, its deadline at most, before it answers "processing"',
    ),
  CALLBACK_DEADLINE_MS: Joi.number()
    .integer()
    .min(1000)
    .max(30_000)
    .default(maxDeadlineMs)
    .description('a callback not stored by then is answered 503 and sent again; in production at most 2150'),
  CALLBACK_RETENTION_DAYS: Joi.number()
    .integer()
    .min(430)
    .default(730)
    .description('received callbacks older than this are deleted every night; they may come 13 months late'),
  CALLBACK_REFUSED_RETENTION_DAYS: Joi.number()
    .integer()
    .min(1)
    .default(30)
    .description('the same for callbacks that prove nothing: not signed, not readable, for no payment'),
});

export function paymentsConfig(env: PaymentsEnvironment, production: boolean) {
  const named = words(env.PAYMENT_GATEWAYS_ENABLED);
  return {
    enabled: env.MODULE_PAYMENTS_ENABLED,
    /** Gateway types by name; `undefined` when all are enabled. */
    gateways: named.length === 0 || named.some((word) => everyGateway.includes(word)) ? undefined : named,
    unsignedMockAllowed: env.PAYMENT_UNSIGNED_MOCK_ALLOWED ?? !production,
    mockSignVisible: env.PAYMENT_MOCK_SIGN_VISIBLE ?? !production,
    localGatewaysAllowed: env.PAYMENT_LOCAL_GATEWAYS_ALLOWED && !production,
    gatewayTimeoutMs: env.PAYMENT_GATEWAY_TIMEOUT_MS,
    callbackWaitMs: env.CALLBACK_WAIT_MS,
    callbackDeadlineMs: production
      ? Math.min(env.CALLBACK_DEADLINE_MS, maxDeadlineMs)
      : env.CALLBACK_DEADLINE_MS,
    callbackRetentionDays: env.CALLBACK_RETENTION_DAYS,
    callbackRefusedRetentionDays: env.CALLBACK_REFUSED_RETENTION_DAYS,
  };
}
