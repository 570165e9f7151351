// Requests per minute of one client, by address or by administrator. Verified callbacks have no limit.
import Joi from 'joi';

export interface LimitsEnvironment {
  LIMITS_ENABLED: boolean;
  LIMIT_PER_ADDRESS: number;
  LIMIT_PER_ADMIN: number;
  LIMIT_SIGN_INS: number;
  LIMIT_CAPTCHAS: number;
  LIMIT_EXPORTS: number;
  LIMIT_UPLOADS: number;
  LIMIT_TICKETS: number;
  LIMIT_STREAMS: number;
  LIMIT_REFUSED_CALLBACKS: number;
}

const perMinute = (count: number, what: string) =>
  Joi.number().integer().min(1).default(count).description(`${what} a minute`);

export const limitsSchema = Joi.object<LimitsEnvironment, true>({
  LIMITS_ENABLED: Joi.boolean().default(true).description('whether the limits below are kept'),
  LIMIT_PER_ADDRESS: perMinute(10_000, 'requests of one address (IPv6: one /64)'),
  LIMIT_PER_ADMIN: perMinute(6000, 'requests of one administrator'),
  LIMIT_SIGN_INS: perMinute(600, 'sign-ins of one address'),
  LIMIT_CAPTCHAS: perMinute(60, 'captchas drawn for one address'),
  LIMIT_EXPORTS: perMinute(30, 'exports asked for by one administrator'),
  LIMIT_UPLOADS: perMinute(600, 'files sent whole by one administrator'),
  LIMIT_TICKETS: perMinute(120, 'one-time tickets of one administrator'),
  LIMIT_STREAMS: perMinute(120, 'event streams opened by one administrator'),
  LIMIT_REFUSED_CALLBACKS: perMinute(
    120,
    'callbacks of one address that are kept although they prove nothing',
  ),
});

/** Limits on all requests of a caller, or on one kind of work. */
export type LimitName = Exclude<keyof ReturnType<typeof limitsConfig>, 'enabled'>;

export function limitsConfig(env: LimitsEnvironment) {
  return {
    enabled: env.LIMITS_ENABLED,
    address: env.LIMIT_PER_ADDRESS,
    admin: env.LIMIT_PER_ADMIN,
    'sign-in': env.LIMIT_SIGN_INS,
    captcha: env.LIMIT_CAPTCHAS,
    export: env.LIMIT_EXPORTS,
    upload: env.LIMIT_UPLOADS,
    ticket: env.LIMIT_TICKETS,
    stream: env.LIMIT_STREAMS,
    'refused-callback': env.LIMIT_REFUSED_CALLBACKS,
  };
}
