// /options: values and labels for select boxes.
import Joi from 'joi';
import { toTree, type Tree } from '../../lib/tree.js';
import { Admin } from '../../models/admin.js';
import { Department } from '../../models/department.js';
import { Dictionary, dictionaryScope } from '../../models/dictionary.js';
import { Menu } from '../../models/menu.js';
import { PaymentMethod } from '../../models/payment-method.js';
import { Role } from '../../models/role.js';
import { route } from '../route.js';

interface Option {
  value: number | string;
  label: string;
  children?: Option[];
}

const sources = {
  role: () => Role.choices(),
  admin: () => Admin.choices(),
  payment_method: () => PaymentMethod.choices(),
  department: async () => toTree(await Department.choices()).map(toOption),
  menu: async () => toTree(await Menu.choices()).map(toOption),
} satisfies Record<string, () => Promise<Option[]>>;

const option = Joi.object({
  value: Joi.alternatives(Joi.number(), Joi.string()).required(),
  label: Joi.string().allow('').required(),
  children: Joi.array().items(Joi.link('#option')),
}).id('option');

const options = Joi.array().items(Joi.link('#option')).required().shared(option);

const dictionaryPrefix = 'dictionary:';

type OptionType = keyof typeof sources;

export const routes = [
  route({
    method: 'GET',
    path: '/options',
    summary: 'Values and labels of enabled entries, for select boxes',
    access: 'signedIn',
    query: Joi.object<{ type: string }, true>({
      type: Joi.string()
        .pattern(new RegExp(`^(?:${Object.keys(sources).join('|')}|dictionary:[A-Za-z0-9_.:-]{1,50})$`))
        .required(),
    }),
    versions: [dictionaryScope],
    response: options,
    handle: ({ query: { type }, marks }) =>
      type.startsWith(dictionaryPrefix)
        ? dictionaryOptions(type.slice(dictionaryPrefix.length), marks[0])
        : sources[type as OptionType](),
  }),
];

async function dictionaryOptions(code: string, mark: string | undefined): Promise<Option[]> {
  const entries = await Dictionary.entriesOf(code, mark);
  return entries.map((entry) => ({ value: entry.value ?? entry.code, label: entry.name }));
}

function toOption({ id, label, children }: Tree<{ id: number; parent_id: number; label: string }>): Option {
  return { value: id, label, ...(children.length > 0 ? { children: children.map(toOption) } : {}) };
}
