// /dictionaries: types and their entries.
import Joi from 'joi';
import {
  nonEmptyText,
  noneToZero,
  optionalMultiline,
  optionalText,
  parent,
  sort,
  status,
} from '../../../lib/input/schema.js';
import {
  createDictionary,
  deleteDictionary,
  dictionaryEntries,
  type DictionaryFields,
  dictionaryQuery,
  dictionaryTypes,
  getDictionary,
  listDictionaries,
  updateDictionary,
} from '../../../models/office/dictionary.js';
import { Dictionary } from '../../../models/office/tables.js';
import { enabled, flag, keysOf, listOf, pageOf, resource } from '../../declare/response.js';
import { can, required, route } from '../../declare/route.js';

const entry = resource('DictionaryEntry', { ...keysOf(Dictionary), status: enabled(), in_use: flag() });

const fields = {
  parent_id: parent(),
  name: nonEmptyText(50),
  code: nonEmptyText(50),
  value: optionalText(500),
  description: optionalMultiline(255),
  status: status(),
  sort: sort(),
};
const list = can('dictionary.index', '查看字典列表', 'List dictionaries');

export const routes = [
  route('GET', '/dictionaries', {
    name: 'listDictionaries',
    summary: 'List dictionary entries',
    access: list,
    query: dictionaryQuery,
    response: pageOf(entry),
    handle: ({ query }) => listDictionaries(query),
  }),
  route('POST', '/dictionaries', {
    name: 'createDictionary',
    summary: 'Create a type (parent 0) or an entry',
    access: can('dictionary.store', '创建字典', 'Create dictionaries'),
    body: Joi.object<DictionaryFields, true>(fields).fork(['name', 'code'], required),
    fails: ['dictionary_code_exists', 'dictionary_not_found', 'dictionary_too_deep', 'dictionary_unknown'],
    response: entry,
    handle: async ({ body }) => getDictionary(await createDictionary(noneToZero(body))),
    repeat: (id) => getDictionary(id),
  }),
  route('GET', '/dictionaries/types', {
    name: 'listDictionaryTypes',
    summary: 'List the dictionary types',
    access: list,
    response: listOf(entry),
    handle: () => dictionaryTypes(),
  }),
  route('GET', '/dictionaries/type/{code}', {
    name: 'listDictionaryEntries',
    summary: 'List the enabled entries of an enabled type',
    access: list,
    params: Joi.object<{ code: string }, true>({ code: Joi.string().max(50).required() }),
    response: listOf(entry),
    handle: ({ params }) => dictionaryEntries(params.code),
  }),
  route('GET', '/dictionaries/{id}', {
    name: 'showDictionary',
    summary: 'Show an entry',
    access: can('dictionary.show', '查看字典', 'Show dictionaries'),
    fails: ['dictionary_not_found'],
    response: entry,
    handle: ({ params }) => getDictionary(params.id),
  }),
  route('PUT', '/dictionaries/{id}', {
    name: 'updateDictionary',
    summary: 'Change or move an entry',
    access: can('dictionary.update', '修改字典', 'Change dictionaries'),
    body: Joi.object<Partial<DictionaryFields>, true>(fields),
    fails: [
      'dictionary_code_exists',
      'dictionary_cycle',
      'dictionary_not_found',
      'dictionary_too_deep',
      'dictionary_unknown',
    ],
    response: entry,
    subject: ({ params }, t) => getDictionary(params.id, t),
    async handle({ params, body }) {
      await updateDictionary(params.id, noneToZero(body));
      return getDictionary(params.id);
    },
  }),
  route('DELETE', '/dictionaries/{id}', {
    name: 'deleteDictionary',
    summary: 'Delete an entry without entries below it',
    access: can('dictionary.destroy', '删除字典', 'Delete dictionaries'),
    fails: ['dictionary_has_children', 'dictionary_not_found'],
    subject: ({ params }, t) => getDictionary(params.id, t),
    handle: ({ params }) => deleteDictionary(params.id),
  }),
];
