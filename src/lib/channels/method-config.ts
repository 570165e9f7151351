// Checks the configuration map of a payment method against what its channel wants.
import { config as settings } from '../../../config/index.js';
import { AppError, type FieldErrors } from '../errors.js';
import { problem } from '../validation.js';
import type { Channel, MethodConfig } from './channel.js';

/** The part of a configuration whose keys the channel knows. */
export function knownConfig({ configKeys }: Channel, given: MethodConfig): MethodConfig {
  const names = new Set(configKeys.map(({ name }) => name));
  return Object.fromEntries(Object.entries(given).filter(([name]) => names.has(name)));
}

/**
 * The configuration reduced to the channel's keys.
 *
 * @throws with a text per `config.<key>` validation_failed when a required key is missing, value_not_acceptable when
 * only a URL is none
 */
export function checkedConfig(channel: Channel, given: MethodConfig): MethodConfig {
  const missing: FieldErrors = {};
  const wrong: FieldErrors = {};
  const checked: MethodConfig = {};
  for (const { name, required, url } of channel.configKeys) {
    const value = given[name];
    if (value) checked[name] = value;
    if (!value && (required || mustBeSigned(channel, name)))
      missing[`config.${name}`] = [problem('any.required')];
    if (value && url && !isWebUrl(value)) wrong[`config.${name}`] = [problem('string.uri')];
  }
  const fields = { ...missing, ...wrong };
  if (Object.keys(missing).length > 0) throw new AppError('validation_failed', { fields });
  if (Object.keys(wrong).length > 0) throw new AppError('value_not_acceptable', { fields });
  return checked;
}

// In production a mock method without a secret would take anybody's word for a payment.
function mustBeSigned(channel: Channel, name: string): boolean {
  return channel.type === 'mock' && name === 'shared_secret' && !settings.payments.unsignedMockAllowed;
}

function isWebUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
