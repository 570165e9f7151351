// menus: the tree of directories, pages and buttons of the administration.
import type { Transaction } from 'sequelize';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { config } from '../../../config/index.js';
import { change, db, refuseDuplicates, select } from '../../lib/db.js';
import { fail } from '../../lib/errors.js';
import { depthOf, heightOf, toTree, withDescendants, type Tree } from '../../lib/tree.js';
import { menuTitle } from './builtin-names.js';
import type { Identity } from './identity.js';
import { mustHold, type Holder } from './rights.js';
import { changing } from '../tables/versions.js';

export interface MenuFields {
  parent_id?: number;
  title: string;
  slug: string;
  icon?: string | null;
  path?: string | null;
  component?: string | null;
  type: number;
  status?: number;
  sort?: number;
  is_hidden?: number;
  link_type?: number;
  open_type?: number;
  no_cache?: number;
}

export interface MenuRecord extends Required<MenuFields> {
  id: number;
  created_at: Date;
  updated_at: Date;
}

/** Modules whose menus disappear while they are switched off. */
const switchedOff = new Set(
  [
    { module: 'orders', enabled: config.app.ordersEnabled },
    { module: 'payments', enabled: config.payments.enabled },
  ].flatMap(({ module, enabled }) => (enabled ? [] : [module])),
);

const maxDepth = 10;
const columns = `id, parent_id, title, slug, icon, path, component, type, status, sort, is_hidden, link_type, open_type,
  no_cache, created_at, updated_at`;
const duplicates = { uq_menus_slug: { slug: 'menu_slug_exists', field: 'slug' } } as const;

@Table({ tableName: 'menus' })
export class Menu extends Model {
  @Column({ type: DataType.BIGINT, primaryKey: true, autoIncrement: true }) declare id: number;
  @Column(DataType.BIGINT) declare parent_id: number;
  @Column(DataType.STRING(50)) declare title: string;
  @Column(DataType.STRING(100)) declare slug: string;
  @Column(DataType.STRING(100)) declare icon: string | null;
  @Column(DataType.STRING(255)) declare path: string | null;
  @Column(DataType.STRING(255)) declare component: string | null;
  @Column(DataType.TINYINT) declare type: number;
  @Column(DataType.TINYINT) declare status: number;
  @Column(DataType.INTEGER) declare sort: number;
  @Column(DataType.TINYINT) declare is_hidden: number;
  @Column(DataType.TINYINT) declare link_type: number;
  @Column(DataType.TINYINT) declare open_type: number;
  @Column(DataType.TINYINT) declare no_cache: number;
  @Column(DataType.STRING(20)) declare module: string | null;
  @Column(DataType.DATE(3)) declare created_at: Date;
  @Column(DataType.DATE(3)) declare updated_at: Date;

  /** Every menu, disabled ones too. */
  static async tree(): Promise<Tree<MenuRecord>[]> {
    const rows = await select<MenuRecord>(`SELECT ${columns} FROM menus ORDER BY sort, id`);
    return toTree(rows.map(titled));
  }

  /**
   * The enabled menus an administrator sees, without those of modules that are switched off. What lies below a
   * disabled menu is not shown either.
   */
  static async treeFor(identity: Pick<Identity, 'isSuperAdmin' | 'menuIds'>): Promise<Tree<MenuRecord>[]> {
    const rows = await select<MenuRecord & { module: string | null }>(
      `SELECT ${columns}, module FROM menus WHERE status = 1 ORDER BY sort, id`,
    );
    const seen = rows
      .filter(
        ({ id, module }) =>
          (identity.isSuperAdmin || identity.menuIds.has(id)) && !switchedOff.has(module ?? ''),
      )
      .map(({ module: _, ...menu }) => titled(menu));
    const ids = new Set(seen.map(({ id }) => id));
    return toTree(seen).filter(({ parent_id }) => parent_id === 0 || ids.has(parent_id));
  }

  /** @throws menu_not_found */
  static async record(id: number): Promise<MenuRecord> {
    const [row] = await select<MenuRecord>(`SELECT ${columns} FROM menus WHERE id = ?`, [id]);
    return row ? titled(row) : fail('menu_not_found');
  }

  /** Enabled menus for select boxes. */
  static async choices(): Promise<{ id: number; parent_id: number; label: string }[]> {
    const rows = await select<{ id: number; parent_id: number; slug: string; title: string }>(
      'SELECT id, parent_id, slug, title FROM menus WHERE status = 1 ORDER BY sort, id',
    );
    return rows.map(({ id, parent_id, slug, title }) => ({ id, parent_id, label: menuTitle(slug, title) }));
  }

  static async register(holder: Holder, fields: MenuFields): Promise<number> {
    return refuseDuplicates(
      changing(['identity'], async (t) => {
        const rows = await lockTree(t);
        mayStandBelow(holder, rows, fields.parent_id ?? 0);
        if (depthOf(rows, fields.parent_id ?? 0) + 1 > maxDepth) tooDeep();
        const defaults = {
          parent_id: 0,
          status: 1,
          sort: 0,
          is_hidden: 0,
          link_type: 1,
          open_type: 1,
          no_cache: 0,
        };
        const menu = await Menu.create({ ...defaults, ...fields }, { transaction: t });
        return menu.id;
      }),
      duplicates,
    );
  }

  /** Changes only the fields given; a move keeps the tree free of cycles and at most 10 levels deep. */
  static async revise(holder: Holder, id: number, fields: Partial<MenuFields>): Promise<void> {
    await refuseDuplicates(
      changing(['identity'], async (t) => {
        const rows = await lockTree(t);
        const menu = (await Menu.findByPk(id, { transaction: t })) ?? fail('menu_not_found');
        await mustHoldMenu(holder, id, t);
        const parent = fields.parent_id;
        if (parent !== undefined && parent !== menu.parent_id) {
          if (withDescendants(rows, id).has(parent)) fail('menu_cycle', { field: 'parent_id' });
          mayStandBelow(holder, rows, parent);
          if (depthOf(rows, parent) + heightOf(rows, id) > maxDepth) tooDeep();
        }
        await menu.update(fields, { transaction: t });
      }),
      duplicates,
    );
  }

  static async remove(holder: Holder, id: number): Promise<void> {
    await changing(['identity'], async (t) => {
      const rows = await lockTree(t);
      const menu = (await Menu.findByPk(id, { transaction: t })) ?? fail('menu_not_found');
      await mustHoldMenu(holder, id, t);
      if (rows.some(({ parent_id }) => parent_id === id)) fail('menu_has_children');
      // What a disabled menu keeps closed stays closed without it.
      if (menu.status !== 1) await change('UPDATE permissions SET status = 0 WHERE menu_id = ?', [id], t);
      await menu.destroy({ transaction: t });
    });
  }
}

db.addModels([Menu]);

const titled = <T extends { slug: string; title: string }>(menu: T): T => ({
  ...menu,
  title: menuTitle(menu.slug, menu.title),
});

type Place = Pick<MenuRecord, 'id' | 'parent_id'>;

// Two moves at once could close a cycle that neither makes alone, so the tree changes one at a time.
function lockTree(t: Transaction): Promise<Place[]> {
  return select<Place>('SELECT id, parent_id FROM menus ORDER BY id FOR UPDATE', [], t);
}

function mayStandBelow(holder: Holder, rows: Place[], parentId: number): void {
  if (parentId === 0) return;
  if (!rows.some(({ id }) => id === parentId)) fail('menu_unknown', { field: 'parent_id' });
  mustHold(holder, [], [parentId]);
}

// Whoever changes a menu switches the permissions that hang on it, so those must be held too.
async function mustHoldMenu(holder: Holder, id: number, t: Transaction): Promise<void> {
  if (holder.isSuperAdmin) return;
  const permissions = await select<{ id: number }>('SELECT id FROM permissions WHERE menu_id = ?', [id], t);
  mustHold(
    holder,
    permissions.map((permission) => permission.id),
    [id],
  );
}

function tooDeep(): never {
  return fail('menu_too_deep', { field: 'parent_id', params: { depth: maxDepth } });
}
