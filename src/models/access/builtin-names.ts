// The names that come with the service, in both languages. A row that still has one of them is shown in the request's language;
// a row that was renamed keeps what was typed.
import { currentLanguage } from '../../lib/process/context.js';
import { say, type Text } from '../../lib/values/language.js';
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

export const roleName = (slug: string, stored: string): string => shown(roles.get(slug), stored);
export const menuTitle = (slug: string, stored: string): string => shown(menus.get(slug), stored);
export const permissionName = (slug: string, stored: string): string => shown(permissions.get(slug), stored);

/** The slugs of permissions whose name in the request's language contains that text: the column may hold the other one. */
export function permissionsNamed(part: string): string[] {
  const wanted = part.toLowerCase();
  const language = currentLanguage();
  const named = [...permissions].filter(([, name]) => say(name, language).toLowerCase().includes(wanted));
  return named.map(([slug]) => slug);
}

function shown(name: Text | undefined, stored: string): string {
  return name && (stored === name.zh || stored === name.en) ? say(name, currentLanguage()) : stored;
}

function titlesOf({ slug, title, children = [] }: MenuSeed): [string, Text][] {
  return [[slug, title], ...children.flatMap(titlesOf)];
}
