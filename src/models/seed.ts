// The first administrator, their role and the menu tree; running it again changes nothing.
import { config } from '../../config/index.js';
import { now } from '../lib/clock.js';
import { change, insert, select, transact } from '../lib/db.js';
import { hashPassword } from '../lib/password.js';
import { randomToken } from '../lib/random-id.js';
import { superAdminSlug } from './identity.js';
import { menuSeeds, type MenuSeed } from './menu-seed.js';

/**
 * Makes the super-administrator role, its first holder `admin` and the menus, each only when there is none. A password
 * that had to be generated is printed.
 */
export async function seed(): Promise<void> {
  await seedRole();
  await seedMenus();
  await seedAdmin();
}

async function seedRole(): Promise<void> {
  const at = now();
  await change(
    `INSERT INTO roles (name, slug, description, created_at, updated_at)
     SELECT '超级管理员', ?, 'Super administrator', ?, ? FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM roles WHERE slug = ?)`,
    [superAdminSlug, at, at, superAdminSlug],
  );
}

async function seedAdmin(): Promise<void> {
  const [anybody] = await select('SELECT id FROM admins LIMIT 1');
  if (anybody) return;
  const generatedPassword = config.auth.adminPassword || !config.app.production ? undefined : randomToken(16);
  const password_hash = await hashPassword(config.auth.adminPassword ?? generatedPassword ?? 'admin123');
  const at = now();
  await transact(async (t) => {
    const id = await insert(
      `INSERT INTO admins (username, password_hash, nickname, created_at, updated_at) VALUES ('admin', ?, '管理员', ?, ?)`,
      [password_hash, at, at],
      t,
    );
    await change(
      'INSERT INTO admin_roles (admin_id, role_id) SELECT ?, id FROM roles WHERE slug = ?',
      [id, superAdminSlug],
      t,
    );
  });
  if (generatedPassword) tell(generatedPassword);
}

// The only time it can be read, so not through the log, which hides what looks like a secret.
function tell(password: string): void {
  process.stdout.write(`The first administrator is "admin" with the password ${password}\n`);
}

async function seedMenus(): Promise<void> {
  const [any] = await select('SELECT id FROM menus LIMIT 1');
  if (!any) for (const [index, menu] of menuSeeds.entries()) await seedMenu(menu, 0, index, menu.module);
}

async function seedMenu(menu: MenuSeed, parentId: number, index: number, module?: string): Promise<void> {
  const at = now();
  const id = await insert(
    `INSERT INTO menus (parent_id, title, slug, icon, path, component, type, sort, module, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      ...[
        parentId,
        menu.title,
        menu.slug,
        menu.icon ?? null,
        menu.path,
        menu.children ? null : `${menu.slug}/index`,
      ],
      ...[menu.children ? 1 : 2, (index + 1) * 10, module ?? null, at, at],
    ],
  );
  for (const [place, child] of (menu.children ?? []).entries()) {
    await seedMenu(child, id, place, child.module ?? module);
  }
}
