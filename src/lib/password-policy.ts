// What a new password must look like (contract.md §3).
import Joi from 'joi';
import { config } from '../../config/index.js';
import { AppError } from './errors.js';
import { problem } from './validation.js';

const { passwordMinLength, passwordRequireMixed } = config.auth;

/** A password about to be set. */
export const newPassword = () =>
  Joi.string()
    .min(passwordMinLength)
    .max(64)
    .custom((value: string, helpers) => {
      const isMixed = /\p{L}/u.test(value) && /\d/.test(value);
      return passwordRequireMixed && !isMixed ? helpers.error('password.weak') : value;
    });

/** @throws value_not_acceptable when the password is the username in any case */
export function mustDifferFromUsername(password: string, username: string, field = 'password'): void {
  if (password.toLowerCase() !== username.toLowerCase()) return;
  throw new AppError('value_not_acceptable', { fields: { [field]: [problem('password.username')] } });
}
