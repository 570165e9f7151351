// The first administrator, their role and the menu tree; running it again changes nothing.
import { config } from '../../../config/index.js';
import { knownFirstPassword } from '../../../config/production.js';
import { transact } from '../../lib/database/db.js';
import { isCommonPassword } from '../../lib/secrets/password-policy.js';
import { hashPassword, matchPassword } from '../../lib/secrets/password.js';
import { randomToken } from '../../lib/secrets/random-id.js';
import { StartRefused } from '../../lib/process/lifecycle.js';
import { raise } from '../tables/versions.js';
import { superAdminName } from './builtin-names.js';
import { superAdminSlug } from './identity.js';
import { checkAppKey } from './key-check.js';
import { menuSeeds, type MenuSeed } from './menu-seed.js';
import { Admin, Menu, Role, SeededMenu } from './tables.js';

/**
 * Makes the super-administrator role and its first holder `admin` when there is none, and the menus this
 * database was not given yet. A password that had to be generated is printed.
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
  const { zh: name, en: description } = superAdminName;
  await Role.findOrCreate({
    where: { slug: superAdminSlug },
    defaults: { name, slug: superAdminSlug, description },
  });
}

async function seedAdmin(): Promise<void> {
  if (await Admin.findOne()) return refuseKnownPassword();
  if (config.app.production && isCommonPassword(config.auth.adminPassword ?? ''))
    throw new StartRefused('ADMIN_PASSWORD is too common and easily guessed; choose another one');
  const generatedPassword = config.auth.adminPassword || !config.app.production ? undefined : randomToken(16);
  const password_hash = await hashPassword(
    config.auth.adminPassword ?? generatedPassword ?? knownFirstPassword,
  );
  await transact(async (t) => {
    const admin = await Admin.create(
      { username: 'admin', password_hash, password_must_change: true, nickname: 'admin' },
      { transaction: t },
    );
    const roles = await Role.findAll({ where: { slug: superAdminSlug }, transaction: t });
    await admin.$set('roles', roles, { transaction: t });
  });
  if (generatedPassword) printPassword(generatedPassword);
}

// A database that was first started outside production keeps the password of its first administrator.
async function refuseKnownPassword(): Promise<void> {
  if (!config.app.production) return;
  const first = await Admin.scope('enabled').findOne({
    attributes: ['password_hash'],
    where: { username: 'admin' },
  });
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
  const rows = await SeededMenu.findAll();
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
  const { title, slug, icon = null, path } = menu;
  const [component, type] = menu.children ? ([null, 1] as const) : ([`${slug}/index`, 2] as const);
  return transact(async (t) => {
    const above = await Menu.findOne({ where: { slug: parent }, transaction: t });
    const place = { parent_id: above?.id ?? 0, sort: (index + 1) * 10, module };
    const columns = { ...place, title: title.zh, slug, icon, path, component, type };
    // Other processes may start at the same time.
    await Menu.bulkCreate([columns], { ignoreDuplicates: true, transaction: t });
    await SeededMenu.bulkCreate([{ slug }], { ignoreDuplicates: true, transaction: t });
    // Other processes see it within 2 s (models/tables/versions.ts); a start waits for no Redis to announce it.
    await raise(['identity'], t);
  });
}
