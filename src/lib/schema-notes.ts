// What a Joi schema says to readers of the OpenAPI document beyond its checks.
import type Joi from 'joi';

export interface Notes {
  /** Name of the schema in the document. */
  name?: string;
  /** JSON Schema keywords that no rule of Joi stands for. */
  keywords?: Record<string, unknown>;
  /** What stands in the document in place of the checking schema; behind a function, because Joi describes schemas in notes. */
  documented?: () => Joi.Schema;
}

/** Gives a schema its name in the document; generated clients call its type that. */
export const named = <T extends Joi.Schema>(name: string, schema: T): T =>
  schema.meta({ name } satisfies Notes) as T;

/** Adds JSON Schema keywords for what is checked by a function, such as `format`. */
export const keywords = <T extends Joi.Schema>(schema: T, keywords: Notes['keywords']): T =>
  schema.meta({ keywords } satisfies Notes) as T;

/** Documents a schema as another one that says more, where the check itself is made elsewhere. */
export const documentedAs = <T extends Joi.Schema>(schema: T, documented: Joi.Schema): T =>
  schema.meta({ documented: () => documented } satisfies Notes) as T;
