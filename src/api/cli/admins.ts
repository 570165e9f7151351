// back-office admin …: the administrators, for operators who are locked out.
import type { Command } from 'commander';
import type { Schema } from 'joi';
import { now } from '../../lib/values/clock.js';
import { canonicalIp } from '../../lib/values/ip.js';
import { change, select } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import { randomToken } from '../../lib/secrets/random-id.js';
import { nonEmptyText, username as newUsername } from '../../lib/input/schema.js';
import { createAdmin, storePassword } from '../../models/access/admin.js';
import { superAdminSlug } from '../../models/access/identity.js';
import { Admin, Role } from '../../models/access/tables.js';
import { checkAppKey } from '../../models/access/key-check.js';
import { changing } from '../../models/tables/versions.js';
import type { Holder } from '../../models/access/rights.js';
import { unlock } from '../flows/sign-in-limits.js';
import { does, Misuse, assertRedis, table, type Outcome } from './command.js';

/** The command line has every right. */
const operator: Holder = { adminId: 0, isSuperAdmin: true, permissionIds: new Set(), menuIds: new Set() };

export const add = {
  admin(admin: Command): void {
    does(admin.command('list').description('every administrator with roles and last sign-in'), list);
    does(
      admin
        .command('create')
        .argument('<username>')
        .option('--role <slug>', 'role', superAdminSlug)
        .option('--nickname <name>', 'name shown; the username if not given')
        .description('creates an administrator and prints the password once'),
      ({ args: [username = ''], option }) => create(username, option('nickname'), option('role') ?? ''),
      { changes: true },
    );
    does(
      admin
        .command('password')
        .argument('<username>')
        .description('sets a new password, prints it once, and ends the sessions'),
      ({ args: [username = ''] }) => givePassword(username),
      { changes: true },
    );
    does(
      admin
        .command('unlock')
        .argument('<username>')
        .option('--address <ip>', 'also unlocks that address for all names')
        .description('enables the administrator and resets failed sign-ins'),
      ({ args: [username = ''], option }) => unlockAdmin(username, option('address')),
      { changes: true },
    );
  },
};

async function list(): Promise<Outcome> {
  const rows = await select(
    `SELECT a.id, a.username, a.nickname, IF(a.status = 1, 'enabled', 'disabled') AS state,
       COALESCE((SELECT GROUP_CONCAT(r.slug ORDER BY r.slug) FROM admin_roles ar JOIN roles r ON r.id = ar.role_id
         WHERE ar.admin_id = a.id), '') AS roles, a.last_login_at
     FROM admins a ORDER BY a.id`,
  );
  return { data: rows, text: table(rows, 'there are no administrators') };
}

async function create(username: string, nickname = username, role: string): Promise<Outcome> {
  assertFits('<username>', newUsername(), username);
  assertFits('--nickname', nonEmptyText(50), nickname);
  await checkAppKey();
  const found = await Role.findOne({ where: { slug: role }, attributes: ['id'] });
  if (!found) throw new Error(`there is no role "${role}"`);
  const password = randomToken(16);
  const id = await createAdmin(operator, { username, nickname, password, role_ids: [found.id] });
  return {
    data: { id, username, password },
    text: `The administrator "${username}" (${role}) has the password ${password}`,
  };
}

function assertFits(what: string, schema: Schema, value: string): void {
  const { error } = schema.label(what).validate(value, {
    errors: { wrap: { label: false } },
    messages: {
      'text.control': '{#label} must not contain control characters',
      'string.pattern.base': '{#label} may contain letters, digits and . _ - @ only',
    },
  });
  if (error) throw new Misuse(error.message);
}

async function givePassword(username: string): Promise<Outcome> {
  await checkAppKey();
  const password = randomToken(16);
  await storePassword(await idOf(username), password, { mustChange: true });
  return { data: { username, password }, text: `The password of "${username}" is now ${password}` };
}

async function unlockAdmin(username: string, given?: string): Promise<Outcome> {
  const address = given === undefined ? undefined : canonicalIp(given);
  if (given !== undefined && !address) throw new Misuse(`--address: "${given}" is no address`);
  const id = await idOf(username);
  assertRedis();
  await changing(['identity'], (t) =>
    change('UPDATE admins SET status = 1, updated_at = ? WHERE id = ? AND status <> 1', [now(), id], t),
  );
  const forgotten = await unlock({ id, username, address });
  return {
    data: { username, forgotten },
    text: `"${username}" can sign in again (${forgotten} counters reset)`,
  };
}

async function idOf(username: string): Promise<number> {
  const admin = await Admin.findOne({ where: { username }, attributes: ['id'] });
  return admin?.id ?? fail('admin_not_found');
}
