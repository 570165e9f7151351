// The first administrator, their role and the menu tree; running it again changes nothing.
import { config } from '../../../config/index.js';
import { knownFirstPassword } from '../../../config/production.js';
import { now } from '../../lib/clock.js';
import { change, insert, select, transact } from '../../lib/db.js';
import { isCommonPassword } from '../../lib/password-policy.js';
import { hashPassword, matchPassword } from '../../lib/password.js';
import { randomToken } from '../../lib/random-id.js';
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
  if (anybody) return refuseKnownPassword();
  if (config.app.production && isCommonPassword(config.auth.adminPassword ?? ''))
    throw new Error('ADMIN_PASSWORD is too common and easily guessed; choose another one');
  const generatedPassword = config.auth.adminPassword || !config.app.production ? undefined : randomToken(16);
  const password_hash = await hashPassword(
    config.auth.adminPassword ?? generatedPassword ?? knownFirstPassword,
  );
  const at = now();
  await transact(async (t) => {
    const id = await insert(
      `INSERT INTO admins (username, password_hash, password_must_change, nickname, created_at, updated_at)
       VALUES ('admin', ?, 1, '管理员', ?, ?)`,
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

// A database that was first started outside production keeps the password of its first administrator.
async function refuseKnownPassword(): Promise<void> {
  if (!config.app.production) return;
  const [first] = await select<{ password_hash: string }>(
    "SELECT password_hash FROM admins WHERE username = 'admin' AND status = 1",
  );
  if (!first || !(await matchPassword(knownFirstPassword, first.password_hash))) return;
  throw new Error(
    `the administrator "admin" still has the password ${knownFirstPassword}, which everybody knows; ` +
      '"npm run reset-password -- admin" gives them another one',
  );
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
