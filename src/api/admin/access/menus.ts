// /menus: the tree of the administration.
import Joi from 'joi';
import {
  lookupName,
  nonEmptyText,
  noneToZero,
  optionalText,
  parent,
  slug,
  sort,
  status,
  webAddress,
} from '../../../lib/input/schema.js';
import {
  createMenu,
  deleteMenu,
  getMenu,
  type MenuFields,
  menuTree,
  menuTreeFor,
  updateMenu,
} from '../../../models/access/menu.js';
import { menuRecord, menuForest } from '../../declare/records.js';
import { record } from '../../declare/response.js';
import { can, required, route } from '../../declare/route.js';

const bit = () => Joi.number().valid(0, 1);

const fields = {
  parent_id: parent(),
  title: nonEmptyText(50),
  slug: slug(),
  icon: lookupName(optionalText(100)),
  path: webAddress(255),
  component: optionalText(255),
  type: Joi.number().valid(1, 2, 3),
  status: status(),
  sort: sort(),
  is_hidden: bit(),
  link_type: Joi.number().valid(1, 2),
  open_type: Joi.number().valid(1, 2),
  no_cache: bit(),
};

const tree = record({ list: menuForest });

export const routes = [
  route('GET', '/menus', {
    name: 'listMenus',
    summary: 'Get the whole menu tree, disabled menus included',
    access: can('menu.index', '查看菜单列表', 'List menus'),
    response: tree,
    handle: async () => ({ list: await menuTree() }),
  }),
  route('GET', '/menus/tree', {
    name: 'listOwnMenus',
    summary: 'Get your enabled menus',
    access: 'signedIn',
    response: tree,
    handle: async ({ admin }) => ({ list: await menuTreeFor(admin) }),
  }),
  route('POST', '/menus', {
    name: 'createMenu',
    summary: 'Create a menu',
    access: can('menu.store', '创建菜单', 'Create menus'),
    body: Joi.object<MenuFields, true>(fields).fork(['title', 'slug', 'type'], required),
    fails: ['grant_beyond_own', 'menu_not_found', 'menu_slug_exists', 'menu_too_deep', 'menu_unknown'],
    response: menuRecord,
    handle: async ({ admin, body }) => getMenu(await createMenu(admin, noneToZero(body))),
    repeat: (id) => getMenu(id),
  }),
  route('GET', '/menus/{id}', {
    name: 'showMenu',
    summary: 'Show a menu',
    access: can('menu.show', '查看菜单', 'Show menus'),
    fails: ['menu_not_found'],
    response: menuRecord,
    handle: ({ params }) => getMenu(params.id),
  }),
  route('PUT', '/menus/{id}', {
    name: 'updateMenu',
    summary: 'Change or move a menu',
    access: can('menu.update', '修改菜单', 'Change menus'),
    body: Joi.object<Partial<MenuFields>, true>(fields),
    fails: [
      'grant_beyond_own',
      'menu_cycle',
      'menu_not_found',
      'menu_slug_exists',
      'menu_too_deep',
      'menu_unknown',
    ],
    response: menuRecord,
    subject: ({ params }, t) => getMenu(params.id, t),
    async handle({ admin, params, body }) {
      await updateMenu(admin, params.id, noneToZero(body));
      return getMenu(params.id);
    },
  }),
  route('DELETE', '/menus/{id}', {
    name: 'deleteMenu',
    summary: 'Delete a menu without children',
    access: can('menu.destroy', '删除菜单', 'Delete menus'),
    fails: ['grant_beyond_own', 'menu_has_children', 'menu_not_found'],
    subject: ({ params }, t) => getMenu(params.id, t),
    handle: ({ admin, params }) => deleteMenu(admin, params.id),
  }),
];
