// Sign-in: tokens, passwords, captchas and limits on guessing.
import Joi from 'joi';
import { constant, list, words } from './environment.js';

export interface AuthEnvironment {
  JWT_SECRET?: string;
  JWT_TTL_MINUTES: number;
  APP_KEY?: string;
  APP_KEY_PREVIOUS: string;
  ADMIN_PASSWORD?: string;
  CAPTCHA_MODE: 'adaptive' | 'always' | 'off';
  LOGIN_MAX_ATTEMPTS: number;
  LOGIN_LOCK_MINUTES: number;
  BCRYPT_COST: number;
  PASSWORD_CHANGE_REQUIRED?: boolean;
  SESSION_IDLE_MINUTES?: number;
}

export const authSettings: Joi.StrictSchemaMap<AuthEnvironment> = {
  JWT_SECRET: Joi.string()
    .min(16)
    .description(
      'signs the tokens (HS256); in production at least 32 random bytes of its own; otherwise generated once into .local/',
    ),
  JWT_TTL_MINUTES: Joi.number().integer().min(1).max(43_200).default(600).description('lifetime of a token'),
  APP_KEY: Joi.string()
    .min(16)
    .description('encrypts stored secrets and peppers passwords; as JWT_SECRET, and never to be lost'),
  APP_KEY_PREVIOUS: list((word) => word.length >= 16, 'a key of under 16 characters').description(
    'other keys, comma separated, under which secrets and passwords may still be stored while APP_KEY is being replaced',
  ),
  ADMIN_PASSWORD: Joi.string()
    .min(6)
    .max(64)
    .description(
      'password of the first administrator; admin123 outside production, else generated and printed once',
    ),
  CAPTCHA_MODE: Joi.string()
    .valid('adaptive', 'always', 'off')
    .default('adaptive')
    .description('adaptive asks for a captcha after failures only'),
  LOGIN_MAX_ATTEMPTS: Joi.number()
    .integer()
    .min(1)
    .default(5)
    .description('failures of one address and name, wrong captchas among them, that lock it'),
  LOGIN_LOCK_MINUTES: Joi.number().min(0.01).default(15).description('how long a lock lasts'),
  BCRYPT_COST: Joi.number().integer().min(4).max(15).default(10).description('bcrypt work factor'),
  PASSWORD_CHANGE_REQUIRED: Joi.boolean().description(
    'a password that somebody else has set must be changed before anything else; true in production only',
  ),
  SESSION_IDLE_MINUTES: Joi.number()
    .min(0)
    .description('a session not used for so long is over; 60, outside production 0: never'),
};

export function authConfig(env: AuthEnvironment, production: boolean, localSecret: (name: string) => string) {
  return {
    jwtSecret: env.JWT_SECRET ?? localSecret('JWT_SECRET'),
    jwtTtlMinutes: env.JWT_TTL_MINUTES,
    jwtIssuer: 'back-office',
    jwtAudience: 'back-office-admin',
    appKey: env.APP_KEY ?? localSecret('APP_KEY'),
    previousAppKeys: words(env.APP_KEY_PREVIOUS),
    adminPassword: env.ADMIN_PASSWORD,
    captchaMode: env.CAPTCHA_MODE,
    captchaAfterFailures: 2,
    captchaTtlSeconds: constant('CAPTCHA_TTL_SECONDS', 120),
    loginMaxAttempts: env.LOGIN_MAX_ATTEMPTS,
    loginWindowSeconds: 300,
    loginLockSeconds: Math.ceil(env.LOGIN_LOCK_MINUTES * 60),
    loginMaxPerAddress: constant('LOGIN_MAX_PER_ADDRESS', production ? 50 : Number.MAX_SAFE_INTEGER),
    loginMaxPerUsernameHour: 50,
    bcryptCost: env.BCRYPT_COST,
    hashConcurrency: constant('HASH_CONCURRENCY', 2),
    hashQueue: constant('HASH_QUEUE', 32),
    hashQueuePerAddress: constant('HASH_QUEUE_PER_ADDRESS', 16),
    hashWaitMs: constant('HASH_WAIT_MS', 5000),
    passwordMinLength: production ? 8 : 6,
    passwordRequireMixed: production,
    passwordRefuseCommon: constant('PASSWORD_REFUSE_COMMON', Number(production)) === 1,
    passwordChangeRequired: env.PASSWORD_CHANGE_REQUIRED ?? production,
    /** 0: sessions have no idle timeout. */
    sessionIdleMs: Math.ceil((env.SESSION_IDLE_MINUTES ?? (production ? 60 : 0)) * 60_000),
  };
}
