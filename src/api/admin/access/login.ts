// /login and /login/captcha: signing in.
import Joi from 'joi';
import { config } from '../../../../config/index.js';
import { consumeCaptcha, createCaptcha } from '../../../lib/captcha/captcha.js';
import type { ErrorSlug } from '../../../lib/errors/catalogue.js';
import { isDatabaseDown } from '../../../lib/database/errors.js';
import { AppError, fail } from '../../../lib/errors/app-error.js';
import { redis } from '../../../lib/redis/redis.js';
import { signToken } from '../../../lib/secrets/token.js';
import { sendNotification } from '../../../jobs/deliver-notification.js';
import { openSession } from '../../../models/access/admin-session.js';
import { needsPasswordChange } from '../../../models/access/identity.js';
import { findByName, findByPassword, type Credential } from '../../../models/access/sign-in.js';
import { limit } from '../../http/middleware/limits.js';
import { logLogin } from '../../declare/operation-log.js';
import { flag, integer, record, text, textOrNull, timestamp } from '../../declare/response.js';
import { route } from '../../declare/route.js';
import {
  assertNotLocked,
  clearFailures,
  countFailure,
  countRefusedCaptcha,
  failuresUnlessLocked,
  type Failures,
  type Subject,
} from '../../flows/sign-in-limits.js';

interface LoginBody {
  username: string;
  password: string;
  captcha_id?: string;
  captcha_code?: string;
}

export const routes = [
  route('POST', '/login', {
    name: 'signIn',
    limit: 'sign-in',
    bodyBytes: 4096,
    summary: 'Sign in and receive a bearer token',
    description: 'A captcha that is sent is always checked; `captcha_required` says when one is needed.',
    access: 'public',
    body: Joi.object<LoginBody, true>({
      username: Joi.string().min(1).max(100).required(),
      password: Joi.string().min(1).max(200).required(),
      captcha_id: Joi.string().allow('', null).max(64),
      captcha_code: Joi.string().allow('', null).max(16),
    }),
    example: { username: 'admin', password: 'admin123' },
    aliases: { captcha_answer: 'captcha_code' },
    fails: [
      'account_disabled',
      'captcha_invalid',
      'captcha_required',
      'login_locked',
      'username_or_password_error',
    ],
    response: record({
      token: text(),
      expires_at: timestamp(),
      password_must_change: flag(),
      admin: record({ id: integer(), username: text(), nickname: text(), avatar: textOrNull() }),
    }),
    async handle({ body, ip, userAgent }) {
      const attempt = { username: body.username.slice(0, 50), ip, userAgent };
      const logFailure = async (error: unknown): Promise<never> => {
        await logLogin({ ...attempt, adminId: await idOfName(error, body), outcome: reasonOf(error) });
        throw error;
      };
      const admin = await identify(body, { ip, username: body.username }).catch(logFailure);
      if (admin.status !== 1) {
        await logLogin({ ...attempt, adminId: admin.id, outcome: 'account_disabled' });
        fail('account_disabled');
      }
      const session = await openSession(admin, ip, userAgent).catch(logFailure);
      const { jti, issuedAt, expiresAt } = session;
      if (session.isNewAddress) await notifyOwner(admin.id, ip, jti);
      await Promise.all([
        clearFailures({ ip, username: body.username }),
        logLogin({ ...attempt, adminId: admin.id, outcome: 'login_success' }),
      ]);
      const { id, username, nickname, avatar } = admin;
      return {
        token: signToken({ subject: String(id), id: jti, issuedAt, expiresAt }),
        expires_at: expiresAt,
        password_must_change: needsPasswordChange(admin),
        admin: { id, username, nickname, avatar },
      };
    },
  }),
  route('GET', '/login/captcha', {
    name: 'getCaptcha',
    summary: 'Get a captcha, or check whether one is required',
    access: 'public',
    query: Joi.object<{ username?: string; check: boolean }, true>({
      username: Joi.string().allow('').max(100),
      check: Joi.boolean().default(false),
    }),
    response: record({
      captcha_id: textOrNull(),
      captcha_image: textOrNull(),
      required: Joi.boolean().required(),
      expires_in: integer(),
    }),
    async handle({ query, ip }, ctx) {
      const required = query.username
        ? await isCaptchaRequired({ ip, username: query.username })
        : isAlwaysRequired;
      const expires_in = config.auth.captchaTtlSeconds;
      if (query.check) return { captcha_id: null, captcha_image: null, required, expires_in };
      await limit('captcha', ctx);
      const { id, image } = await createCaptcha();
      return { captcha_id: id, captcha_image: image, required, expires_in };
    },
  }),
];

const isAlwaysRequired = config.auth.captchaMode === 'always';

function notifyOwner(adminId: number, ip: string, jti: string): Promise<unknown> {
  return sendNotification({
    type: 'system',
    title: { zh: '新地址登录', en: 'Sign-in from a new address' },
    content: {
      zh: `您的账号刚刚从新地址 ${ip} 登录。如非本人操作，请立即修改密码。`,
      en: `Your account was signed in to from the new address ${ip}. If this was not you, change your password now.`,
    },
    receiverIds: [adminId],
    eventKey: `sign-in-${jti}`,
  });
}

// Lock, captcha, password: in this order, so that a locked or unproven caller costs no hash.
async function identify(body: LoginBody, subject: Subject): Promise<Credential> {
  const failures = await failuresUnlessLocked(subject);
  const refusal = await captchaRefusal(body, failures);
  if (refusal) {
    await countRefusedCaptcha(subject);
    fail(refusal.slug, { field: refusal.field });
  }
  const admin = await findByPassword(body.username, body.password);
  if (!admin) {
    await countFailure(subject);
    fail('username_or_password_error');
  }
  // Concurrent attempts may have locked the subject meanwhile: a right guess among them must not show.
  await assertNotLocked(subject);
  return admin;
}

interface CaptchaRefusal {
  slug: 'captcha_invalid' | 'captcha_required';
  field: 'captcha_id' | 'captcha_code';
}

/** What is wrong with the captcha of an attempt; one that is sent is used up. */
async function captchaRefusal(
  { captcha_id, captcha_code }: LoginBody,
  failures: Failures,
): Promise<CaptchaRefusal | undefined> {
  const wrong = { slug: 'captcha_invalid', field: 'captcha_code' } as const;
  if (captcha_id && captcha_code) return (await consumeCaptcha(captcha_id, captcha_code)) ? undefined : wrong;
  if (captcha_id) return wrong;
  if (captcha_code) return { ...wrong, field: 'captcha_id' };
  return needsCaptcha(failures) ? { slug: 'captcha_required', field: 'captcha_code' } : undefined;
}

async function isCaptchaRequired(subject: Subject): Promise<boolean> {
  // A locked subject needs one as well.
  const locked: Failures = { count: 0, isAddressSuspect: true };
  return needsCaptcha(await failuresUnlessLocked(subject).catch(() => locked));
}

// Without Redis there are no captchas; this process still counts failures.
function needsCaptcha({ count, isAddressSuspect }: Failures): boolean {
  if (config.auth.captchaMode !== 'adaptive') return isAlwaysRequired;
  const isDue = isAddressSuspect || count >= config.auth.captchaAfterFailures;
  return isDue && redis.status === 'ready';
}

// Whose name was tried. Nobody is asked during an outage: the answer would take twice as long.
async function idOfName(error: unknown, { username }: LoginBody): Promise<number | undefined> {
  if (!(error instanceof AppError)) return undefined;
  return (await findByName(username).catch(() => undefined))?.id;
}

// An attempt that failed because of an outage is logged as well.
function reasonOf(error: unknown): ErrorSlug {
  if (error instanceof AppError) return error.slug;
  return isDatabaseDown(error) ? 'database_unavailable' : 'internal_error';
}
