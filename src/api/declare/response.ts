// Joi building blocks of answers, for the OpenAPI document and the tests that hold every answer against it.
import Joi from 'joi';
import { named } from './json-schema.js';

export const integer = () => Joi.number().integer().required();
export const text = () => Joi.string().allow('').required();
export const textOrNull = () => Joi.string().allow('', null).required();
export const flag = () => Joi.boolean().required();
export const timestamp = () => Joi.string().isoDate().required();
export const timestampOrNull = () => Joi.string().isoDate().allow(null).required();
export const amount = () => Joi.number().required();

/** An object of which every member is present. */
export const record = (keys: Joi.PartialSchemaMap): Joi.ObjectSchema => Joi.object(keys).required();

/** A record that has a name in the document, which generated clients call its type. */
export const resource = (name: string, keys: Joi.PartialSchemaMap): Joi.ObjectSchema =>
  named(name, record(keys));

/** {id, …} or null. */
export const recordOrNull = (keys: Joi.PartialSchemaMap): Joi.ObjectSchema =>
  Joi.object(keys).allow(null).required();

export const listOf = (item: Joi.Schema): Joi.ArraySchema => Joi.array().items(item).required();

/** The page of docs/spec.md, Conventions. */
export const pageOf = (item: Joi.Schema): Joi.ObjectSchema =>
  record({ list: listOf(item), page: integer(), page_size: integer(), total: integer() });

/** A list of trees: nodes with these keys, and children of the same shape. */
export function forestOf(name: string, keys: Joi.PartialSchemaMap): Joi.ArraySchema {
  const children = Joi.array().items(Joi.link(`#${name}`));
  const node = Joi.object({ ...keys, children: children.required() }).id(name);
  return children.required().shared(node);
}
