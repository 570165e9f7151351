// The Idempotency-Key request header.
import Joi from 'joi';
import { validate } from '../../lib/validation.js';

const name = 'Idempotency-Key';

const schema = Joi.object({
  [name]: Joi.string()
    .max(128)
    .pattern(/^[\x21-\x7e]+$/),
});

export const idempotencyHeader = {
  [name]: 'repeating the request with the same key answers the record made first',
};

/** The key of a request, if it has one: up to 128 visible ASCII characters. */
export function idempotencyKeyOf(header: (name: string) => string | undefined): string | undefined {
  return (validate(schema, { [name]: header(name) }) as Record<string, string | undefined>)[name];
}
