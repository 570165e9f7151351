// The permissions of the routes: which routes a caller's open (docs/api.md, 4), and their rows.
import { declarePermissionName } from '../../models/access/builtin-names.js';
import type { Identity, PermissionRule } from '../../models/access/identity.js';
import { declareBuiltinPermissions, type BuiltinPermission } from '../../models/access/permission.js';
import { fullPath, permissionOf, type Permission, type Route } from './route.js';

interface Guarded {
  name: string;
  permission: Permission;
  method: string;
  segments: string[];
}

let guarded: Guarded[] = [];
const passes = new WeakMap<Identity, Set<string>>();

/** Registers the routes; called once when the application is created. */
export function guardRoutes(routes: readonly Route[]): void {
  guarded = routes.flatMap((route) => {
    const permission = permissionOf(route);
    const { method } = route;
    if (permission) declarePermissionName(permission.slug, permission.name);
    return permission
      ? [{ name: nameOf(route), permission, method, segments: segmentsOf(fullPath(route)) }]
      : [];
  });
}

/**
 * The routes a permission with that slug, method and path opens, as `METHOD /path`. Routes may share a slug,
 * but a path opens only those it matches.
 */
export function opens(rule: PermissionRule): string[] {
  const segments = segmentsOf(rule.path);
  return guarded.filter((route) => isOpenedBy(route, rule, segments)).map(({ name }) => name);
}

/** Whether the caller may call that route. */
export function mayCall(identity: Identity, route: Route): boolean {
  return mayPass(identity, [nameOf(route)]);
}

/** Whether the caller may call all these routes, named as by `opens`. */
export function mayPass(identity: Identity, names: readonly string[]): boolean {
  if (identity.isSuperAdmin) return true;
  let own = passes.get(identity);
  if (!own) passes.set(identity, (own = new Set(identity.rules.flatMap(opens))));
  return names.every((name) => own.has(name));
}

/** For a caller: whether they may call every route that such a permission opens. */
export const covers =
  (identity: Identity) =>
  (rule: PermissionRule): boolean =>
    mayPass(identity, opens(rule));

const nameOf = (route: Route): string => `${route.method} ${fullPath(route)}`;

function isOpenedBy(
  { permission, method, segments }: Guarded,
  rule: PermissionRule,
  ruled: string[],
): boolean {
  if (rule.slug === permission.slug) return true;
  if (permission.slugOnly || rule.method.toUpperCase() !== method || ruled.length !== segments.length)
    return false;
  // A literal segment must match exactly: `*` matches parameters only.
  return ruled.every((segment, index) =>
    isPlaceholder(segment) ? isPlaceholder(segments[index] as string) : segment === segments[index],
  );
}

// `*`, `{id}` and `:id` match exactly one segment; the prefix is optional.
function isPlaceholder(segment: string): boolean {
  return segment === '*' || segment.startsWith(':') || (segment.startsWith('{') && segment.endsWith('}'));
}

function segmentsOf(path: string): string[] {
  const segments = path.split('/').filter((segment) => segment !== '');
  return segments[0] === 'api' && segments[1] === 'admin' ? segments.slice(2) : segments;
}

/** Writes a permission row for every protected route; several routes may share a slug, the first names the row. */
export function syncPermissions(routes: readonly Route[]): Promise<void> {
  const wanted = new Map<string, BuiltinPermission>();
  for (const route of routes) {
    const permission = permissionOf(route);
    if (!permission || wanted.has(permission.slug)) continue;
    const path = fullPath(route).replace(/\{\w+\}/g, '*');
    const menu = route.path.split('/')[1] ?? '';
    wanted.set(permission.slug, {
      slug: permission.slug,
      name: permission.name.en,
      method: route.method,
      path,
      menu,
    });
  }
  return declareBuiltinPermissions([...wanted.values()]);
}
