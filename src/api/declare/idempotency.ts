// The Idempotency-Key request header.
import Joi from 'joi';
import { validate } from '../../lib/input/validation.js';

/** Up to 128 visible ASCII characters. */
export const idempotencyKey = Joi.string()
  .max(128)
  .pattern(/^[\x21-\x7e]+$/)
  .example('order-7f3a91c2');

const header = 'Idempotency-Key';

const schema = Joi.object({ [header]: idempotencyKey });

/** The Idempotency-Key of a request, if any. */
export function idempotencyKeyOf(read: (name: string) => string | undefined): string | undefined {
  return (validate(schema, { [header]: read(header) }) as Record<string, string | undefined>)[header];
}
