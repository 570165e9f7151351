// Rules for new passwords (docs/security.md, Accounts and sessions).
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import Joi from 'joi';
import { config } from '../../../config/index.js';
import { refuseField } from '../input/validation.js';

const { passwordMinLength, passwordRequireMixed, passwordRefuseCommon } = config.auth;

export const newPassword = () =>
  Joi.string()
    .min(passwordMinLength)
    .max(64)
    .custom((value: string, helpers) => {
      const isMixed = /\p{L}/u.test(value) && /\d/.test(value);
      if (passwordRequireMixed && !isMixed) return helpers.error('password.weak');
      return passwordRefuseCommon && isCommonPassword(value) ? helpers.error('password.common') : value;
    });

// With any digits and signs around them (ASVS 6.2.11).
const contextWords = new Set([
  'admin',
  'administrator',
  'backoffice',
  'password',
  'passwort',
  'welcome',
  'changeme',
]);

let common: ReadonlySet<string> | undefined;

/**
 * Whether a password is one of the 50,000 most common ones in any case, or a word of this service with digits
 * and signs.
 */
export function isCommonPassword(password: string): boolean {
  const lower = password.toLowerCase();
  common ??= readCommon();
  return common.has(lower) || contextWords.has(lower.replace(/[^a-z]/g, ''));
}

// Loaded with the first password that is set. Passwords below the min length are left out.
function readCommon(): ReadonlySet<string> {
  const file = createRequire(import.meta.url).resolve('@zxcvbn-ts/language-common/src/passwords.json');
  const passwords = JSON.parse(readFileSync(file, 'utf8')) as string[];
  return new Set(passwords.filter(({ length }) => length >= passwordMinLength));
}

/** @throws value_not_acceptable when the new password is the old one */
export function assertDiffersFromOld(password: string, old: string): void {
  if (password === old) refuseField('value_not_acceptable', 'password', 'password.same');
}

/** @throws value_not_acceptable when the password equals the username, ignoring case */
export function assertDiffersFromUsername(password: string, username: string): void {
  if (password.toLowerCase() === username.toLowerCase())
    refuseField('value_not_acceptable', 'password', 'password.username');
}
