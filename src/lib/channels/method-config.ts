// Validates the configuration of a payment method for its channel.
import Joi from 'joi';
import { validate } from '../input/validation.js';
import type { Channel, MethodConfig } from './channel.js';

interface Described {
  flags?: { presence?: string };
  metas?: { secret?: boolean }[];
}

/**
 * The configuration as its channel takes it; unknown keys are refused.
 *
 * @throws with a text per `config.<key>` validation_failed when a required key is missing, else format_invalid
 * or value_not_acceptable
 */
export function checkedConfig(channel: Channel, given: MethodConfig): MethodConfig {
  return validate(wholeSchema(channel), { config: given }).config;
}

/** Names of the keys that are stored encrypted and never returned. */
export function secretKeys(channel: Channel): Set<string> {
  const keys = keysOf(channel).filter(([, { metas = [] }]) => metas.some(({ secret }) => secret));
  return new Set(keys.map(([name]) => name));
}

/** The keys of these channels for the documentation; required ones have an asterisk. */
export function describeKeys(channels: readonly Channel[]): string {
  const lists = channels.map((channel) => {
    const names = keysOf(channel).map(
      ([name, { flags }]) => `\`${name}\`${flags?.presence === 'required' ? '*' : ''}`,
    );
    return `${channel.type}: ${names.join(', ')}`;
  });
  return `${lists.join('; ')} (* required)`;
}

const wholeSchemas = new WeakMap<Channel, Joi.ObjectSchema<{ config: MethodConfig }>>();

// Cached per channel: Joi compiles messages once per schema.
function wholeSchema(channel: Channel): Joi.ObjectSchema<{ config: MethodConfig }> {
  let schema = wholeSchemas.get(channel);
  if (!schema) {
    schema = Joi.object({ config: channel.configSchema.unknown(false) });
    wholeSchemas.set(channel, schema);
  }
  return schema;
}

function keysOf({ configSchema }: Channel): [string, Described][] {
  return Object.entries(configSchema.describe().keys as Record<string, Described>);
}
