// The payment module: whether it is offered, with which gateways, and how long a callback waits.
import Joi from 'joi';
import { list, words } from './environment.js';

export interface PaymentsEnvironment {
  MODULE_PAYMENTS_ENABLED: boolean;
  PAYMENT_GATEWAYS_ENABLED: string;
  PAYMENT_UNSIGNED_MOCK_ALLOWED?: boolean;
  CALLBACK_WAIT_MS: number;
}

export const paymentsSchema = Joi.object<PaymentsEnvironment, true>({
  MODULE_PAYMENTS_ENABLED: Joi.boolean()
    .default(false)
    .description('offers the payment endpoints and menu; callbacks are served in any case'),
  PAYMENT_GATEWAYS_ENABLED: list().description('enabled gateway types; empty, * or all means every one'),
  PAYMENT_UNSIGNED_MOCK_ALLOWED: Joi.boolean().description(
    'accept mock callbacks of a method without a shared secret; false in production only',
  ),
  CALLBACK_WAIT_MS: Joi.number()
    .integer()
    .min(0)
    .max(2000)
    .default(2000)
    .description('a callback waits this long for its settlement before it answers "processing"'),
});

export function paymentsConfig(env: PaymentsEnvironment, production: boolean) {
  const named = words(env.PAYMENT_GATEWAYS_ENABLED);
  return {
    enabled: env.MODULE_PAYMENTS_ENABLED,
    /** Gateway types by name, or `undefined` when every registered type is enabled. */
    gateways: named.length === 0 || named.includes('*') || named.includes('all') ? undefined : named,
    unsignedMockAllowed: env.PAYMENT_UNSIGNED_MOCK_ALLOWED ?? !production,
    callbackWaitMs: env.CALLBACK_WAIT_MS,
  };
}
