// Requests per minute of one client, by address or by administrator. Verified callbacks have no limit.
import Joi from 'joi';
import { constant } from './environment.js';

export interface LimitsEnvironment {
  LIMITS_ENABLED: boolean;
  LIMIT_PER_ADDRESS: number;
  LIMIT_PER_ADMIN: number;
  LIMIT_SIGN_INS: number;
}

const perMinute = (count: number, what: string) =>
  Joi.number().integer().min(1).default(count).description(`${what} a minute`);

export const limitsSettings: Joi.StrictSchemaMap<LimitsEnvironment> = {
  LIMITS_ENABLED: Joi.boolean().default(true).description('whether the limits below apply'),
  LIMIT_PER_ADDRESS: perMinute(10_000, 'requests of one address (IPv6: one /64)'),
  LIMIT_PER_ADMIN: perMinute(6000, 'requests of one administrator'),
  LIMIT_SIGN_INS: perMinute(600, 'sign-ins of one address'),
};

/** Limits on all requests of a caller, or on one kind of work. */
export type LimitName = Exclude<keyof ReturnType<typeof limitsConfig>, 'enabled'>;

export function limitsConfig(env: LimitsEnvironment) {
  return {
    enabled: env.LIMITS_ENABLED,
    address: env.LIMIT_PER_ADDRESS,
    admin: env.LIMIT_PER_ADMIN,
    'sign-in': env.LIMIT_SIGN_INS,
    captcha: constant('LIMIT_CAPTCHAS', 60),
    export: constant('LIMIT_EXPORTS', 30),
    upload: constant('LIMIT_UPLOADS', 600),
    ticket: constant('LIMIT_TICKETS', 120),
    stream: constant('LIMIT_STREAMS', 120),
    'refused-callback': constant('LIMIT_REFUSED_CALLBACKS', 120),
  };
}
