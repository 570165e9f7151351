// Synchronises the permission rows with the route declarations.
import { type BuiltinPermission, declareBuiltinPermissions } from '../../models/access/permission.js';
import { fullPath, permissionOf, type Route } from './route.js';

/**
 * Writes a permission row for every protected route; several routes may share a slug, the first names the row.
 */
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
