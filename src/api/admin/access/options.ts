// /options: values and labels for select boxes.
import Joi from 'joi';
import { config } from '../../../../config/index.js';
import { fail } from '../../../lib/errors/app-error.js';
import { toTree, type Tree } from '../../../models/tables/tree.js';
import { adminOptions } from '../../../models/access/admin.js';
import { departmentOptions } from '../../../models/access/department.js';
import { dictionaryEntries } from '../../../models/office/dictionary.js';
import { menuOptions } from '../../../models/access/menu.js';
import { permissionOptions } from '../../../models/access/permission.js';
import { methodOptions } from '../../../models/trade/payment-method.js';
import { roleOptions } from '../../../models/access/role.js';
import { mayPass } from '../../declare/permission.js';
import { route } from '../../declare/route.js';

interface Option {
  value: number | string;
  label: string;
  children?: Option[];
}

const sources = {
  role: roleOptions,
  admin: adminOptions,
  permission: permissionOptions,
  payment_method: methodOptions,
  department: async () => toTree(await departmentOptions()).map(toOption),
  menu: async () => toTree(await menuOptions()).map(toOption),
} satisfies Record<string, () => Promise<Option[]>>;

const option = Joi.object({
  value: Joi.alternatives(Joi.number(), Joi.string()).required(),
  label: Joi.string().allow('').required(),
  children: Joi.array().items(Joi.link('#OptionNode')),
}).id('OptionNode');

const options = Joi.array().items(Joi.link('#OptionNode')).required().shared(option);

const dictionaryPrefix = 'dictionary:';

type OptionType = keyof typeof sources;

/** The permission of the list with the same entries. */
const lists: Record<OptionType | 'dictionary', string> = {
  role: 'roles',
  admin: 'admins',
  permission: 'permissions',
  payment_method: 'payment-methods',
  department: 'departments',
  menu: 'menus',
  dictionary: 'dictionaries',
};

export const routes = [
  route('GET', '/options', {
    name: 'listOptions',
    summary: 'List values and labels of enabled entries, for select boxes',
    description: 'Each type asks for the right to list what it shows.',
    access: 'signedIn',
    query: Joi.object<{ type: string }, true>({
      type: Joi.string()
        .description(
          `What to list: ${Object.keys(sources).join(', ')}, or \`dictionary:\` with the code of a type`,
        )
        .example('role')
        .pattern(new RegExp(`^(?:${Object.keys(sources).join('|')}|dictionary:.{1,50})$`, 'u'))
        .required(),
    }),
    fails: ['module_payments_disabled', 'no_permission'],
    response: options,
    handle({ admin, query: { type } }) {
      const kind = type.startsWith(dictionaryPrefix) ? 'dictionary' : (type as OptionType);
      if (kind === 'payment_method' && !config.payments.enabled) fail('module_payments_disabled');
      if (!mayPass(admin, [`GET /api/admin/${lists[kind]}`])) fail('no_permission');
      return kind === 'dictionary' ? dictionaryOptions(type.slice(dictionaryPrefix.length)) : sources[kind]();
    },
  }),
];

async function dictionaryOptions(code: string): Promise<Option[]> {
  const entries = await dictionaryEntries(code);
  return entries.map((entry) => ({ value: entry.value ?? entry.code, label: entry.name }));
}

function toOption({ id, label, children }: Tree<{ id: number; parent_id: number; label: string }>): Option {
  return { value: id, label, ...(children.length > 0 ? { children: children.map(toOption) } : {}) };
}
