// The tables of this room: who signs in, and what they may do.
import type { CreationOptional, NonAttribute } from 'sequelize';
import { BelongsTo, BelongsToMany, HasMany, Model, Scopes } from 'sequelize-typescript';
import { db } from '../../lib/database/db.js';
import {
  ascii,
  big,
  code,
  flag,
  id,
  instant,
  integer,
  rowTime,
  text,
  tiny,
  type Unlisted,
} from '../tables/column.js';
import { inUse } from '../tables/find.js';
import { Column, Table, type NewRow, type Row } from '../tables/table.js';

const enabled = { where: { status: 1 } };

/** The tree administrators belong to. */
@Scopes(() => ({
  enabled,
  withUse: inUse(
    'departments c WHERE c.parent_id = Department.id',
    'admins a WHERE a.department_id = Department.id',
  ),
}))
@Table('departments')
export class Department extends Model<Row<Department>, NewRow<Department>> {
  @Column(id()) declare id: CreationOptional<number>;
  @Column(big().default(0)) declare parent_id: CreationOptional<number>;
  @Column(text(50)) declare name: string;
  @Column(text(50).nullable()) declare code: string | null;
  @Column(text(50).nullable()) declare leader: string | null;
  @Column(text(30).nullable()) declare phone: string | null;
  @Column(text(100).nullable()) declare email: string | null;
  @Column(text(255).nullable()) declare remark: string | null;
  @Column(tiny().default(1)) declare status: CreationOptional<number>;
  @Column(integer().default(0)) declare sort: CreationOptional<number>;
  @Column(instant()) declare created_at: CreationOptional<Date>;
  @Column(instant()) declare updated_at: CreationOptional<Date>;
}

/** Who signs in here. */
@Scopes(() => ({ enabled }))
@Table('admins', { uq_admins_username: ['username'] })
export class Admin extends Model<Row<Admin>, NewRow<Admin>> {
  @Column(id()) declare id: CreationOptional<number>;
  @Column(text(50)) declare username: string;
  @Column(text(100).secret()) declare password_hash: Unlisted<string>;
  /** Somebody else has set the password: its owner must change it first. */
  @Column(flag().default(false).internal()) declare password_must_change: Unlisted<CreationOptional<boolean>>;
  @Column(text(50)) declare nickname: string;
  @Column(text(100).nullable()) declare email: string | null;
  @Column(text(30).nullable()) declare phone: string | null;
  @Column(text(500).nullable()) declare avatar: string | null;
  @Column(tiny().default(1)) declare status: CreationOptional<number>;
  @Column(big().nullable()) declare department_id: number | null;
  @Column(instant().nullable()) declare last_login_at: Date | null;
  @Column(instant()) declare created_at: CreationOptional<Date>;
  @Column(instant()) declare updated_at: CreationOptional<Date>;
  @BelongsTo(() => Department, 'department_id') declare department?: NonAttribute<Department | null>;
  @BelongsToMany(() => Role, () => AdminRole, 'admin_id', 'role_id') declare roles?: NonAttribute<Role[]>;
}

/** Reads the administrator of a row, for `adminOf`. */
export const withAdmin = { association: 'admin', attributes: ['id', 'username'] };

/** The administrator of a row; null when deleted. */
export const adminOf = ({ admin }: { admin?: Admin | null }): { id: number; username: string } | null =>
  admin ? { id: admin.id, username: admin.username } : null;

/** A named set of permissions and menus. */
@Scopes(() => ({ enabled, withUse: inUse('admin_roles ar WHERE ar.role_id = Role.id') }))
@Table('roles', { uq_roles_slug: ['slug'] })
export class Role extends Model<Row<Role>, NewRow<Role>> {
  @Column(id()) declare id: CreationOptional<number>;
  @Column(text(50)) declare name: string;
  @Column(text(50)) declare slug: string;
  @Column(text(255).nullable()) declare description: string | null;
  @Column(tiny().default(1)) declare status: CreationOptional<number>;
  @Column(integer().default(0)) declare sort: CreationOptional<number>;
  @Column(instant()) declare created_at: CreationOptional<Date>;
  @Column(instant()) declare updated_at: CreationOptional<Date>;
  @BelongsToMany(() => Admin, () => AdminRole, 'role_id', 'admin_id') declare admins?: NonAttribute<Admin[]>;
  @BelongsToMany(() => Permission, () => RolePermission, 'role_id', 'permission_id')
  declare permissions?: NonAttribute<Permission[]>;
  @BelongsToMany(() => Menu, () => RoleMenu, 'role_id', 'menu_id') declare menus?: NonAttribute<Menu[]>;
  @HasMany(() => RolePermission, 'role_id') declare permission_keys?: NonAttribute<RolePermission[]>;
  @HasMany(() => RoleMenu, 'role_id') declare menu_keys?: NonAttribute<RoleMenu[]>;
}

/** The tree of directories, pages and buttons. */
@Scopes(() => ({ enabled }))
@Table('menus', { uq_menus_slug: ['slug'] })
export class Menu extends Model<Row<Menu>, NewRow<Menu>> {
  @Column(id()) declare id: CreationOptional<number>;
  @Column(big().default(0)) declare parent_id: CreationOptional<number>;
  @Column(text(50)) declare title: string;
  @Column(text(100)) declare slug: string;
  @Column(text(100).nullable()) declare icon: string | null;
  @Column(text(255).nullable()) declare path: string | null;
  @Column(text(255).nullable()) declare component: string | null;
  /** 1 directory, 2 page, 3 button. */
  @Column(tiny(1, 2, 3)) declare type: 1 | 2 | 3;
  @Column(tiny().default(1)) declare status: CreationOptional<number>;
  @Column(integer().default(0)) declare sort: CreationOptional<number>;
  @Column(tiny().default(0)) declare is_hidden: CreationOptional<number>;
  @Column(tiny().default(1)) declare link_type: CreationOptional<number>;
  @Column(tiny().default(1)) declare open_type: CreationOptional<number>;
  @Column(tiny().default(0)) declare no_cache: CreationOptional<number>;
  /** Hidden while that module is switched off. */
  @Column(text(20).nullable().internal()) declare module: Unlisted<string | null>;
  @Column(instant()) declare created_at: CreationOptional<Date>;
  @Column(instant()) declare updated_at: CreationOptional<Date>;
}

/** Menus that this database was given, also those deleted since. */
@Table('seeded_menus')
export class SeededMenu extends Model<Row<SeededMenu>, NewRow<SeededMenu>> {
  @Column(text(100).primary()) declare slug: string;
  @Column(instant().default(rowTime)) declare created_at: CreationOptional<Date>;
}

/** What a role may be allowed, as a slug and as method and path. */
@Scopes(() => ({ enabled }))
@Table('permissions', { uq_permissions_slug: ['slug'] })
export class Permission extends Model<Row<Permission>, NewRow<Permission>> {
  @Column(id()) declare id: CreationOptional<number>;
  @Column(text(100)) declare name: string;
  @Column(text(100)) declare slug: string;
  @Column(text(10)) declare method: string;
  @Column(text(255)) declare path: string;
  @Column(big().nullable()) declare menu_id: number | null;
  @Column(text(255).nullable()) declare description: string | null;
  @Column(tiny().default(1)) declare status: CreationOptional<number>;
  @Column(integer().default(0)) declare sort: CreationOptional<number>;
  /** A route of this release needs it. */
  @Column(flag().default(false)) declare is_builtin: CreationOptional<boolean>;
  @Column(instant()) declare created_at: CreationOptional<Date>;
  @Column(instant()) declare updated_at: CreationOptional<Date>;
  @BelongsTo(() => Menu, 'menu_id') declare menu?: NonAttribute<Menu | null>;
  @BelongsToMany(() => Role, () => RolePermission, 'permission_id', 'role_id')
  declare roles?: NonAttribute<Role[]>;
}

@Table('admin_roles')
export class AdminRole extends Model<Row<AdminRole>, NewRow<AdminRole>> {
  @Column(big().primary()) declare admin_id: number;
  @Column(big().primary()) declare role_id: number;
}

@Table('role_permissions')
export class RolePermission extends Model<Row<RolePermission>, NewRow<RolePermission>> {
  @Column(big().primary()) declare role_id: number;
  @Column(big().primary()) declare permission_id: number;
}

@Table('role_menus')
export class RoleMenu extends Model<Row<RoleMenu>, NewRow<RoleMenu>> {
  @Column(big().primary()) declare role_id: number;
  @Column(big().primary()) declare menu_id: number;
}

/** One sign-in. */
@Table('admin_sessions', { uq_admin_sessions_jti: ['jti'] })
export class AdminSession extends Model<Row<AdminSession>, NewRow<AdminSession>> {
  @Column(id()) declare id: CreationOptional<number>;
  /** The `jti` of its token. */
  @Column(code(26).internal()) declare jti: Unlisted<string>;
  @Column(big()) declare admin_id: number;
  @Column(text(45)) declare ip: string;
  @Column(text(500).internal()) declare user_agent: Unlisted<string>;
  @Column(text(50)) declare browser: string;
  @Column(text(50)) declare os: string;
  @Column(instant().internal()) declare last_used_at: Unlisted<Date>;
  @Column(instant().internal()) declare expires_at: Unlisted<Date>;
  @Column(instant().nullable().internal()) declare revoked_at: Unlisted<Date | null>;
  @Column(instant()) declare created_at: Date;
  @BelongsTo(() => Admin, 'admin_id') declare admin?: NonAttribute<Admin>;
}

/** A digest for each key that must not be mistaken for another one. */
@Table('key_checks')
export class KeyCheck extends Model<Row<KeyCheck>, NewRow<KeyCheck>> {
  @Column(ascii(20).primary()) declare name: string;
  @Column(code(64).internal()) declare digest: Unlisted<string>;
  @Column(instant()) declare created_at: CreationOptional<Date>;
  @Column(instant()) declare updated_at: CreationOptional<Date>;
}

db.addModels([
  Department,
  Admin,
  Role,
  Menu,
  SeededMenu,
  Permission,
  AdminRole,
  RolePermission,
  RoleMenu,
  AdminSession,
  KeyCheck,
]);
