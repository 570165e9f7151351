// Sign-in: tokens, passwords, captchas and limits on guessing.
import Joi from 'joi';
import { list, words } from './environment.js';

export interface AuthEnvironment {
  JWT_SECRET?: string;
  JWT_TTL_MINUTES: number;
  APP_KEY?: string;
  APP_KEY_PREVIOUS: string;
  ADMIN_PASSWORD?: string;
  CAPTCHA_MODE: 'adaptive' | 'always' | 'off';
  CAPTCHA_AFTER_FAILURES: number;
  CAPTCHA_TTL_SECONDS: number;
  LOGIN_MAX_ATTEMPTS: number;
  LOGIN_WINDOW_MINUTES: number;
  LOGIN_LOCK_MINUTES: number;
  LOGIN_MAX_PER_ADDRESS: number;
  LOGIN_MAX_PER_USERNAME_HOUR: number;
  BCRYPT_COST: number;
  HASH_CONCURRENCY: number;
  HASH_QUEUE: number;
  HASH_QUEUE_PER_ADDRESS: number;
  HASH_WAIT_MS: number;
  PASSWORD_MIN_LENGTH?: number;
  PASSWORD_REQUIRE_MIXED?: boolean;
  PASSWORD_REFUSE_COMMON: boolean;
  PASSWORD_CHANGE_REQUIRED?: boolean;
  SESSION_IDLE_MINUTES?: number;
}

export const authSchema = Joi.object<AuthEnvironment, true>({
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
  CAPTCHA_AFTER_FAILURES: Joi.number()
    .integer()
    .min(1)
    .default(2)
    .description('failures of one address and name before a captcha is required'),
  CAPTCHA_TTL_SECONDS: Joi.number().integer().min(10).default(120).description('a captcha lives this long'),
  LOGIN_MAX_ATTEMPTS: Joi.number()
    .integer()
    .min(1)
    .default(5)
    .description('failures of one address and name that lock it'),
  LOGIN_WINDOW_MINUTES: Joi.number().min(0.01).default(5).description('failures are counted over this time'),
  LOGIN_LOCK_MINUTES: Joi.number().min(0.01).default(15).description('how long a lock lasts'),
  LOGIN_MAX_PER_ADDRESS: Joi.number()
    .integer()
    .min(1)
    .default(50)
    .description('failures of one address under any names that lock it'),
  LOGIN_MAX_PER_USERNAME_HOUR: Joi.number()
    .integer()
    .min(1)
    .default(50)
    .description('failures per hour of one name that lock it for addresses it has not signed in from lately'),
  BCRYPT_COST: Joi.number().integer().min(4).max(15).default(10).description('bcrypt work factor'),
  HASH_CONCURRENCY: Joi.number()
    .integer()
    .min(1)
    .default(2)
    .description('password hashes in flight per process'),
  HASH_QUEUE: Joi.number().integer().min(0).default(32).description('waiting password hashes before 429'),
  HASH_QUEUE_PER_ADDRESS: Joi.number()
    .integer()
    .min(1)
    .default(16)
    .description('of these, for one address (IPv6: one /64)'),
  HASH_WAIT_MS: Joi.number()
    .integer()
    .min(1)
    .max(8000)
    .default(5000)
    .description('longest wait for its turn of a password hash before 429'),
  PASSWORD_MIN_LENGTH: Joi.number().integer().min(4).max(64).description('8, outside production 6'),
  PASSWORD_REQUIRE_MIXED: Joi.boolean().description('a letter and a digit; true in production only'),
  PASSWORD_REFUSE_COMMON: Joi.boolean()
    .default(false)
    .description('refuses new passwords that stand in lists of common ones; always in production'),
  PASSWORD_CHANGE_REQUIRED: Joi.boolean().description(
    'a password that somebody else has set must be changed before anything else; true in production only',
  ),
  SESSION_IDLE_MINUTES: Joi.number()
    .min(0)
    .description('a session not used for so long is over; 60, outside production 0: never'),
});

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
    captchaAfterFailures: env.CAPTCHA_AFTER_FAILURES,
    captchaTtlSeconds: env.CAPTCHA_TTL_SECONDS,
    loginMaxAttempts: env.LOGIN_MAX_ATTEMPTS,
    loginWindowSeconds: Math.ceil(env.LOGIN_WINDOW_MINUTES * 60),
    loginLockSeconds: Math.ceil(env.LOGIN_LOCK_MINUTES * 60),
    loginMaxPerAddress: env.LOGIN_MAX_PER_ADDRESS,
    loginMaxPerUsernameHour: env.LOGIN_MAX_PER_USERNAME_HOUR,
    bcryptCost: env.BCRYPT_COST,
    hashConcurrency: env.HASH_CONCURRENCY,
    hashQueue: env.HASH_QUEUE,
    hashQueuePerAddress: env.HASH_QUEUE_PER_ADDRESS,
    hashWaitMs: env.HASH_WAIT_MS,
    passwordMinLength: env.PASSWORD_MIN_LENGTH ?? (production ? 8 : 6),
    passwordRequireMixed: env.PASSWORD_REQUIRE_MIXED ?? production,
    passwordRefuseCommon: env.PASSWORD_REFUSE_COMMON || production,
    passwordChangeRequired: env.PASSWORD_CHANGE_REQUIRED ?? production,
    /** 0: sessions have no idle timeout. */
    sessionIdleMs: Math.ceil((env.SESSION_IDLE_MINUTES ?? (production ? 60 : 0)) * 60_000),
  };
}
