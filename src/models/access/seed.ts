// The first administrator, their role and the menu tree; running it again changes nothing.
import { config } from '../../../config/index.js';
import { knownFirstPassword } from '../../../config/production.js';
import { now } from '../../lib/clock.js';
import { transact } from '../../lib/database/db.js';
import { isCommonPassword } from '../../lib/secrets/password-policy.js';
import { hashPassword, matchPassword } from '../../lib/secrets/password.js';
import { randomToken } from '../../lib/secrets/random-id.js';
import { StartRefused } from '../../lib/process/start-refused.js';
import { insertFrom, insertMissing, insertRow } from '../tables/rows.js';
import { columnsOf, selection } from '../tables/selection.js';
import { execute, over } from '../tables/sql.js';
import { raise } from '../tables/versions.js';
import { superAdminName } from './builtin-names.js';
import { superAdminSlug } from './identity.js';
import { checkAppKey } from './key-check.js';
import { menuSeeds, type MenuSeed } from './menu-seed.js';
import { Admin, AdminRole, Menu, Role, SeededMenu } from './tables.js';

/**
 * Makes the super-administrator role and its first holder `admin` when there is none, and the menus this database was not given
 * yet. A password that had to be generated is printed.
 *
 * @throws StartRefused under a wrong APP_KEY, and in production with a password that everybody knows
 */
export async function seed(): Promise<void> {
  await checkAppKey();
  await seedRole();
  await seedMenus();
  await seedAdmin();
}

async function seedRole(): Promise<void> {
  const at = now();
  const { zh: name, en: description } = superAdminName;
  const role = { name, slug: superAdminSlug, description, created_at: at, updated_at: at };
  await execute(
    insertFrom(
      Role,
      role,
      sql('FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM roles WHERE slug = :slug)', { slug: superAdminSlug }),
    ),
  );
}

async function seedAdmin(): Promise<void> {
  const anybody = await firstAdmins.one(sql('LIMIT 1', {}));
  if (anybody) return refuseKnownPassword();
  if (config.app.production && isCommonPassword(config.auth.adminPassword ?? ''))
    throw new StartRefused('ADMIN_PASSWORD is too common and easily guessed; choose another one');
  const generatedPassword = config.auth.adminPassword || !config.app.production ? undefined : randomToken(16);
  const password_hash = await hashPassword(
    config.auth.adminPassword ?? generatedPassword ?? knownFirstPassword,
  );
  const at = now();
  await transact(async (t) => {
    const stamps = { created_at: at, updated_at: at };
    const first = {
      username: 'admin',
      password_hash,
      password_must_change: true,
      nickname: '管理员',
      ...stamps,
    };
    const admin_id = await insertRow(Admin, first, t);
    await execute(
      sql(
        `INSERT INTO admin_roles (admin_id, role_id) SELECT :admin_id, r.id FROM roles r WHERE r.slug = :slug`,
        { admin_id, slug: superAdminSlug },
      ),
      { t },
    );
  });
  if (generatedPassword) printPassword(generatedPassword);
}

const firstAdmins = selection(columnsOf(Admin, 'a', 'id', 'password_hash'), 'admins a');
const seededMenus = selection(columnsOf(SeededMenu, 's', 'slug'), 'seeded_menus s');
const sql = over({
  'admins a': Admin,
  admin_roles: AdminRole,
  roles: Role,
  'roles r': Role,
  menus: Menu,
  'seeded_menus s': SeededMenu,
});

// A database that was first started outside production keeps the password of its first administrator.
async function refuseKnownPassword(): Promise<void> {
  if (!config.app.production) return;
  const first = await firstAdmins.one(sql("WHERE a.username = 'admin' AND a.status = 1", {}));
  if (!first || !(await matchPassword(knownFirstPassword, first.password_hash))) return;
  throw new StartRefused(
    `the administrator "admin" still has the password ${knownFirstPassword}, which everybody knows; ` +
      '"npm run cli -- admin password admin" gives them another one',
  );
}

// Printed instead of logged, because the log masks secrets and the password is shown only once.
function printPassword(password: string): void {
  process.stdout.write(`The first administrator is "admin" with the password ${password}\n`);
}

async function seedMenus(): Promise<void> {
  const rows = await seededMenus.where(sql('', {}));
  const seeded = new Set(rows.map(({ slug }) => slug));
  for (const [index, menu] of menuSeeds.entries()) await seedMenu(menu, '', index, seeded, menu.module);
}

// A menu is seeded once: a deleted one stays deleted. Without its directory it goes to the top.
async function seedMenu(
  menu: MenuSeed,
  parent: string,
  index: number,
  seeded: ReadonlySet<string>,
  module?: string,
): Promise<void> {
  if (!seeded.has(menu.slug)) await addMenu(menu, parent, index, module ?? null);
  for (const [place, child] of (menu.children ?? []).entries())
    await seedMenu(child, menu.slug, place, seeded, child.module ?? module);
}

function addMenu(menu: MenuSeed, parent: string, index: number, module: string | null): Promise<void> {
  const at = now();
  const { title, slug, icon = null, path } = menu;
  const [component, type] = menu.children ? [null, 1] : [`${slug}/index`, 2];
  return transact(async (t) => {
    await execute(
      sql(
        `INSERT IGNORE INTO menus (parent_id, title, slug, icon, path, component, type, sort, module, created_at, updated_at)
         SELECT COALESCE((SELECT id FROM menus WHERE slug = :parent), 0), :title, :slug, :icon, :path, :component, :type,
           :sort, :module, :at, :at
         FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM menus WHERE slug = :slug)`,
        { parent, title: title.zh, slug, icon, path, component, type, sort: (index + 1) * 10, module, at },
      ),
      { t },
    );
    await insertMissing(SeededMenu, { slug }, t);
    // Processes of the release before see it within 3 s; a start waits for no Redis to announce them.
    await raise(['identity'], t);
  });
}
