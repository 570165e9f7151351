// Checks the configuration map of a payment method against what its channel wants.
import { config as settings } from '../../../config/index.js';
import { AppError, type FieldErrors } from '../errors.js';
import { problem } from '../validation.js';
import type { Channel, MethodConfig } from './channel.js';

/**
 * The configuration reduced to the channel's keys.
 *
 * @throws value_not_acceptable with a text per `config.<key>` when a required key is missing or a URL is none
 */
export function checkedConfig(channel: Channel, given: MethodConfig): MethodConfig {
  const errors: FieldErrors = {};
  const checked: MethodConfig = {};
  for (const { name, required, url } of channel.configKeys) {
    const value = given[name];
    if (value) checked[name] = value;
    if (!value && (required || mustBeSigned(channel, name)))
      errors[`config.${name}`] = [problem('any.required')];
    if (value && url && !isWebUrl(value)) errors[`config.${name}`] = [problem('string.uri')];
  }
  if (Object.keys(errors).length > 0) throw new AppError('value_not_acceptable', { fields: errors });
  return checked;
}

// In production a mock method without a secret would take anybody's word for a payment.
function mustBeSigned(channel: Channel, name: string): boolean {
  return channel.type === 'mock' && name === 'shared_secret' && !settings.payments.unsignedMockAllowed;
}

function isWebUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
