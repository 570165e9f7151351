// Notes on Joi schemas for the OpenAPI document.
import type Joi from 'joi';

export interface Notes {
  /** Name of the schema in the document. */
  name?: string;
  /** JSON Schema keywords that Joi rules cannot express. */
  keywords?: Record<string, unknown>;
  /** Documents another schema instead; lazy, because Joi describes schemas in notes. */
  documented?: () => Joi.Schema;
}

/** Names a schema in the document; generated clients use it as the type name. */
export const named = <T extends Joi.Schema>(name: string, schema: T): T =>
  schema.meta({ name } satisfies Notes) as T;

/** Adds JSON Schema keywords, such as `format`, for checks made by a function. */
export const keywords = <T extends Joi.Schema>(schema: T, keywords: Notes['keywords']): T =>
  schema.meta({ keywords } satisfies Notes) as T;

/** Documents a schema as another, more specific one when the check is elsewhere. */
export const documentedAs = <T extends Joi.Schema>(schema: T, documented: Joi.Schema): T =>
  schema.meta({ documented: () => documented } satisfies Notes) as T;
