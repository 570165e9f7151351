// The configuration of a payment method as its row holds it: plain settings and sealed secrets, each a JSON map.
import Joi from 'joi';
import type { Channel, MethodConfig } from '../../lib/channels/channel.js';
import { channelOf } from '../../lib/channels/index.js';
import { AppError, fail, type FieldErrors } from '../../lib/errors/app-error.js';
import { problem, validate } from '../../lib/input/validation.js';
import { isSealedToday, seal, unseal } from '../../lib/secrets/secret-box.js';

interface StoredSettings {
  config: string;
  secrets: string;
}

/** The placeholder of a secret in answers; sent back, it leaves the secret unchanged. */
const hiddenSecret = '***';

/**
 * Settings of a new method.
 *
 * @throws payment_gateway_unknown; with a text per `config.<key>` validation_failed when a required key is missing, else
 * format_invalid or value_not_acceptable, also for a hidden secret and a key that the channel does not know
 */
export function newSettings(type: string, config: MethodConfig): StoredSettings {
  const hidden = Object.keys(config).filter((name) => config[name] === hiddenSecret);
  if (hidden.length > 0) {
    const fields: FieldErrors = {};
    for (const name of hidden) fields[`config.${name}`] = [problem('any.invalid')];
    throw new AppError('value_not_acceptable', { fields });
  }
  return store(type, merge({}, config));
}

/**
 * Settings after a change: an empty text removes a key, a hidden secret stays. Secrets that are replaced need not be
 * readable, so that they can be entered again when their key is lost.
 *
 * @throws as `newSettings`
 */
export function changedSettings(type: string, before: StoredSettings, changes: MethodConfig): StoredSettings {
  const isKept = (name: string): boolean => (changes[name] ?? hiddenSecret) === hiddenSecret;
  const kept = Object.fromEntries(Object.entries(parse(before.secrets)).filter(([name]) => isKept(name)));
  return store(type, merge(wholeConfig({ config: before.config, secrets: JSON.stringify(kept) }), changes));
}

/** Whether a change leads to another account at the company. */
export function isOtherAccount(type: string, before: StoredSettings, after: StoredSettings): boolean {
  const [old, changed] = [parse(before.config), parse(after.config)];
  return channelOf(type)?.accountKeys?.some((name) => old[name] !== changed[name]) ?? false;
}

/** Every setting with its value, for the channel only. @throws Error when a secret does not open */
function wholeConfig(stored: StoredSettings): MethodConfig {
  return { ...parse(stored.config), ...mapped(parse(stored.secrets), unseal) };
}

/** The same; undefined when a secret does not open. */
export function openedConfig(stored: StoredSettings): MethodConfig | undefined {
  try {
    return wholeConfig(stored);
  } catch {
    return undefined;
  }
}

/** Every setting, with `***` in place of secrets. */
export function shownConfig(config: string, secretNames: readonly string[]): MethodConfig {
  return { ...parse(config), ...Object.fromEntries(secretNames.map((name) => [name, hiddenSecret])) };
}

/** Whether all of these secrets are sealed under the present APP_KEY. */
export function areSealedToday(secrets: string): boolean {
  return Object.values(parse(secrets)).every(isSealedToday);
}

/** The same secrets sealed under the present APP_KEY. @throws Error when one does not open */
export function sealedAnew(secrets: string): string {
  return JSON.stringify(mapped(parse(secrets), (value) => seal(unseal(value))));
}

function store(type: string, given: MethodConfig): StoredSettings {
  const channel = channelOf(type) ?? fail('payment_gateway_unknown', { field: 'type' });
  const whole = Joi.object<{ config: MethodConfig }>({ config: channel.configSchema.unknown(false) });
  const entries = Object.entries(validate(whole, { config: given }).config);
  const secret = secretKeys(channel);
  const [plain, sealed] = [false, true].map((wanted) =>
    Object.fromEntries(entries.filter(([name]) => secret.has(name) === wanted)),
  ) as [MethodConfig, MethodConfig];
  return { config: JSON.stringify(plain), secrets: JSON.stringify(mapped(sealed, seal)) };
}

/** Names of the keys that are stored encrypted and never returned. */
function secretKeys({ configSchema }: Channel): Set<string> {
  const keys = configSchema.describe().keys as Record<string, { metas?: { secret?: boolean }[] }>;
  const secret = Object.entries(keys).filter(([, { metas = [] }]) => metas.some((meta) => meta.secret));
  return new Set(secret.map(([name]) => name));
}

function merge(before: MethodConfig, changes: MethodConfig): MethodConfig {
  const changed = Object.entries(changes).filter(([, value]) => value !== hiddenSecret);
  const merged = { ...before, ...Object.fromEntries(changed) };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value));
}

const parse = (json: string): MethodConfig => JSON.parse(json) as MethodConfig;

const mapped = (config: MethodConfig, change: (value: string) => string): MethodConfig =>
  Object.fromEntries(Object.entries(config).map(([name, value]) => [name, change(value)]));
