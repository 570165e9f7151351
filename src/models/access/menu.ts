// menus: the tree of directories, pages and buttons of the administration.
import type { Transaction } from 'sequelize';
import { config } from '../../../config/index.js';
import { blankToNull } from '../../lib/input/schema.js';
import { refuseDuplicates } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import { changing } from '../tables/versions.js';
import { listed, type Fields, type Listed } from '../tables/table.js';
import { assertPlace, nodesOf, toTree, withDescendants, type Tree } from '../tables/tree.js';
import { menuTitle, withoutShown } from './builtin-names.js';
import type { Identity } from './identity.js';
import { assertHolds, type Holder } from './rights.js';
import { Menu, Permission } from './tables.js';

export type MenuFields = Fields<Menu, 'module'>;

type MenuRecord = Listed<Menu>;

/** Modules whose menus disappear while they are switched off. */
const switchedOff = new Set([
  ...(config.app.ordersEnabled ? [] : ['orders']),
  ...(config.payments.enabled ? [] : ['payments']),
]);

const duplicates = { uq_menus_slug: { slug: 'menu_slug_exists', field: 'slug' } } as const;

/** Every menu, disabled ones too. */
export async function menuTree(): Promise<Tree<MenuRecord>[]> {
  return toTree((await Menu.findAll({ order: ['sort', 'id'] })).map(toRecord));
}

/**
 * The enabled menus an administrator sees, without those of modules that are switched off. A disabled menu hides
 * its descendants.
 */
export async function menuTreeFor(
  identity: Pick<Identity, 'isSuperAdmin' | 'menuIds'>,
): Promise<Tree<MenuRecord>[]> {
  const menus = await enabledMenus();
  const seen = menus
    .filter(
      ({ id, module }) =>
        (identity.isSuperAdmin || identity.menuIds.has(id)) && !switchedOff.has(module ?? ''),
    )
    .map(toRecord);
  const ids = new Set(seen.map(({ id }) => id));
  return toTree(seen).filter(({ parent_id }) => parent_id === 0 || ids.has(parent_id));
}

/** Also whether entries below it prevent its deletion. @throws menu_not_found */
export async function getMenu(
  id: number,
  transaction?: Transaction,
): Promise<MenuRecord & { in_use: boolean }> {
  if (transaction) await nodesOf(Menu, transaction);
  const menu = (await Menu.findByPk(id, { transaction })) ?? fail('menu_not_found');
  return { ...toRecord(menu), in_use: (await Menu.count({ where: { parent_id: id }, transaction })) > 0 };
}

/** Enabled menus for select boxes. */
export async function menuOptions(): Promise<{ id: number; parent_id: number; label: string }[]> {
  const menus = await enabledMenus();
  return menus.map(({ id, parent_id, slug, title }) => ({ id, parent_id, label: menuTitle(slug, title) }));
}

export async function createMenu(holder: Holder, fields: MenuFields): Promise<number> {
  return refuseDuplicates(
    changing(['identity'], async (t) => {
      const rows = await nodesOf(Menu, t);
      if (fields.parent_id) assertMayPlace(holder, rows, fields.parent_id);
      return (await Menu.create(blankToNull(fields), { transaction: t })).id;
    }),
    duplicates,
  );
}

/** Changes only the fields given; a move keeps the tree free of cycles and at most 10 levels deep. */
export async function updateMenu(holder: Holder, id: number, fields: Partial<MenuFields>): Promise<void> {
  await refuseDuplicates(
    changing(['identity'], async (t) => {
      const rows = await nodesOf(Menu, t);
      const menu = (await Menu.findByPk(id, { transaction: t })) ?? fail('menu_not_found');
      await assertHoldsMenus(holder, withDescendants(rows, id), t);
      const parent = fields.parent_id;
      if (parent && parent !== menu.parent_id) assertMayPlace(holder, rows, parent, id);
      await menu.update(withoutShown('menu', menu, blankToNull(fields)), { transaction: t });
    }),
    duplicates,
  );
}

export async function deleteMenu(holder: Holder, id: number): Promise<void> {
  await changing(['identity'], async (t) => {
    const rows = await nodesOf(Menu, t);
    const menu = (await Menu.findByPk(id, { transaction: t })) ?? fail('menu_not_found');
    await assertHoldsMenus(holder, withDescendants(rows, id), t);
    if (rows.some(({ parent_id }) => parent_id === id)) fail('menu_has_children');
    // Permissions that a disabled menu switched off stay off.
    if (menu.status !== 1) await Permission.update({ status: 0 }, { where: { menu_id: id }, transaction: t });
    await menu.destroy({ transaction: t });
  });
}

const enabledMenus = (): Promise<Menu[]> => Menu.scope('enabled').findAll({ order: ['sort', 'id'] });

const toRecord = (menu: Menu): MenuRecord => ({ ...listed(menu), title: menuTitle(menu.slug, menu.title) });

function assertMayPlace(holder: Holder, rows: Menu[], parent: number, id?: number): void {
  assertPlace('menu', rows, parent, id);
  assertHolds(holder, [], [parent]);
}

// Changing a menu affects all menus below it and their permissions, so the actor must hold those too. To hold the menu
// alone is not enough: an actor who holds one page also holds the menus above it.
async function assertHoldsMenus(holder: Holder, menus: ReadonlySet<number>, t: Transaction): Promise<void> {
  if (holder.isSuperAdmin) return;
  const ids = [...menus];
  const permissions = await Permission.findAll({
    where: { menu_id: ids },
    attributes: ['id'],
    transaction: t,
  });
  assertHolds(
    holder,
    permissions.map(({ id }) => id),
    ids,
  );
}
