// Schemas that depend on the payment channel: configurations, results of placing, callbacks. One named schema per
// channel.
import Joi from 'joi';
import type { Channel } from '../../lib/channels/channel.js';
import { allChannels, channelTypes } from '../../lib/channels/index.js';
import { keywords, named } from '../../lib/input/schema.js';
import { flag, listOf, oneOf, resource, text, textOrNull } from './response.js';
import { nounOf } from './route.js';

const configWords = 'Configuration of the channel; secrets are returned as `***`';

/** A method in answers; secrets are `***`. */
export const methodOf = (keys: Joi.PartialSchemaMap) =>
  perType(
    (type) => `${type}PaymentMethod`,
    ({ configSchema }) => ({ ...keys, config: texts(configSchema).required().description(configWords) }),
  );

/** A method in a create request. */
export const newMethodOf = (keys: Joi.PartialSchemaMap) =>
  perType(
    (type) => `New${type}PaymentMethod`,
    ({ configSchema }) => ({
      ...keys,
      config: (configSchema.validate({}).error ? configSchema.required() : configSchema).description(
        configWords,
      ),
    }),
  );

/** The configuration keys to change, of any channel; an empty text removes one. */
export const changedConfig = () =>
  Joi.alternatives().try(
    ...allChannels.map(({ type, configSchema }) =>
      named(
        `${nounOf(type)}ConfigChange`,
        texts(configSchema, (text) => text.allow('').max(8000).optional()),
      ),
    ),
  );

/** The configuration keys of all channels in words; required ones have an asterisk. */
export function describeKeys(): string {
  const lists = allChannels.map(({ type, configSchema }) => {
    const keys = Object.entries(configSchema.describe().keys as Described);
    const names = keys.map(([name, { flags }]) => `\`${name}\`${flags?.presence === 'required' ? '*' : ''}`);
    return `${type}: ${names.join(', ')}`;
  });
  return `${lists.join('; ')} (* required)`;
}

/** The result of placing a payment. */
export const gatewayAnswer = () =>
  perType(
    (type) => `${type}Gateway`,
    ({ placedSchema }) => keysOf(placedSchema),
  );

/** Whether a method would work: the verdict on a test callback, and checks of its keys and its notify URL. */
export const methodTest = resource('PaymentMethodTest', {
  type: oneOf(...channelTypes).description('Type of the payment channel'),
  accepted: flag()
    .description('Whether a callback signed with the stored keys would be accepted')
    .example(true),
  verdict: Joi.string()
    .required()
    .description('`verified`, or the `error_code` that such a callback is refused with')
    .example('verified'),
  message: text()
    .description('The verdict for people')
    .example('A callback signed with the stored keys is accepted'),
  notify_url: text()
    .description('The notify URL sent to the payment company')
    .example('https://pay.example.com/api/payment/notify/mock'),
  checks: listOf(
    resource('PaymentMethodCheck', {
      field: text().description('`config.` and the key, or `notify_url`').example('config.shared_secret'),
      state: oneOf('passed', 'failed', 'skipped').description('The result'),
      message: textOrNull().description('Why it failed or was skipped; null when it passed'),
    }),
  ).description('The checks'),
});

/** What a channel sends to its notify URL. */
export const callbackBody = () =>
  Joi.alternatives().try(
    ...allChannels.map(({ type, callbackSchema }) => named(`${nounOf(type)}Callback`, callbackSchema)),
  );

// A schema per channel, discriminated by `type`.
function perType(
  nameOf: (type: string) => string,
  keys: (channel: Channel) => Joi.PartialSchemaMap,
): Joi.Schema {
  const schemas = allChannels.map((channel) => {
    const type = Joi.string().valid(channel.type).required().description('Type of the channel');
    return resource(nameOf(nounOf(channel.type)), { ...keys(channel), type });
  });
  const mapping = Object.fromEntries(
    channelTypes.map((type) => [type, `#/components/schemas/${nameOf(nounOf(type))}`]),
  );
  const union = Joi.alternatives()
    .try(...schemas)
    .match('one');
  return named(nameOf(''), keywords(union, { discriminator: { propertyName: 'type', mapping } }));
}

/** The keys of a configuration, as Joi describes them. */
type Described = Record<string, { flags?: { presence?: string; description?: string } }>;

// Configuration keys as plain texts: stored ones are not validated again.
function texts(
  schema: Joi.ObjectSchema,
  change: (text: Joi.StringSchema) => Joi.StringSchema = (text) => text,
): Joi.ObjectSchema {
  const plain = Object.entries(schema.describe().keys as Described).map(([name, { flags }]) => {
    const { description } = flags ?? {};
    const text = description ? Joi.string().description(description) : Joi.string();
    return [name, change(flags?.presence === 'required' ? text.required() : text)];
  });
  return Joi.object(Object.fromEntries(plain) as Joi.PartialSchemaMap);
}

function keysOf(schema: Joi.ObjectSchema): Joi.PartialSchemaMap {
  const names = Object.keys(schema.describe().keys as object);
  return Object.fromEntries(names.map((name) => [name, schema.extract(name)]));
}
