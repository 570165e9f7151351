// The names that come with the service, in both languages. A row that still has one of them is shown in the
// request's language; a row that was renamed keeps what was typed.
import { literal, type Utils } from 'sequelize';
import { db } from '../../lib/database/db.js';
import { currentLanguage } from '../../lib/process/context.js';
import { say, type Language, type Text } from '../../lib/values/language.js';
import { superAdminSlug } from './identity.js';
import { menuSeeds, type MenuSeed } from './menu-seed.js';

/** By slug. */
type Names = Map<string, Text>;

export const superAdminName: Text = { zh: '超级管理员', en: 'Super administrator' };

const roles: Names = new Map([[superAdminSlug, superAdminName]]);
const menus: Names = new Map(menuSeeds.flatMap(titlesOf));
const permissions: Names = new Map();

/** Registers the names that the routes declare; called once at the start. */
export function declarePermissionName(slug: string, name: Text): void {
  permissions.set(slug, name);
}

export const roleName = (slug: string, stored: string, language = currentLanguage()): string =>
  shown(roles.get(slug), stored, language);
export const menuTitle = (slug: string, stored: string): string => shown(menus.get(slug), stored);
export const permissionName = (slug: string, stored: string): string => shown(permissions.get(slug), stored);

/** The slugs whose name in the request's language contains that text: the column may hold the other one. */
export const permissionsNamed = (part: string): string[] => named(permissions, part);
export const rolesNamed = (part: string): string[] => named(roles, part);

/** The name as it is shown, which the column may hold in the other language, for ORDER BY. */
export const permissionsByName = () => byName('Permission', permissions);
export const rolesByName = () => byName('Role', roles);

const builtin = { role: roles, menu: menus, permission: permissions };

/**
 * The fields of a change without the built-in names that are sent back as they were shown: these stay as they
 * are stored.
 */
export function withoutShown<T extends { slug?: string }>(
  noun: keyof typeof builtin,
  stored: { slug: string },
  fields: T,
): T {
  const name = builtin[noun].get(fields.slug ?? stored.slug);
  const changes = Object.entries(fields).filter(
    ([field, sent]) => !isBuiltin(name, sent) || !isBuiltin(name, stored[field as keyof typeof stored]),
  );
  return Object.fromEntries(changes) as T;
}

function named(names: Names, part: string): string[] {
  const wanted = part.toLowerCase();
  const language = currentLanguage();
  const found = [...names].filter(([, name]) => say(name, language).toLowerCase().includes(wanted));
  return found.map(([slug]) => slug);
}

function byName(alias: string, names: Names): Utils.Literal {
  const language = currentLanguage();
  const cases = [...names].map(([slug, name]) => {
    const [key, zh, en, shown] = [slug, name.zh, name.en, say(name, language)].map((text) => db.escape(text));
    return `WHEN ${alias}.slug = ${key} AND ${alias}.name IN (${zh}, ${en}) THEN ${shown}`;
  });
  return literal(`CASE ${cases.join(' ')} ELSE ${alias}.name END`);
}

function shown(name: Text | undefined, stored: string, language: Language = currentLanguage()): string {
  return name && isBuiltin(name, stored) ? say(name, language) : stored;
}

const isBuiltin = (name: Text | undefined, text: unknown): boolean =>
  name !== undefined && (text === name.zh || text === name.en);

function titlesOf({ slug, title, children = [] }: MenuSeed): [string, Text][] {
  return [[slug, title], ...children.flatMap(titlesOf)];
}
