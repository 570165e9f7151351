// Departments, roles, administrators and customers. Existing ones are not changed.
import { randomToken } from '../../lib/secrets/random-id.js';
import { now } from '../../lib/clock.js';
import { select, transact } from '../../lib/database/db.js';
import { createAdmin } from '../../models/access/admin.js';
import { createDepartment } from '../../models/access/department.js';
import type { Holder } from '../../models/access/rights.js';
import { createRole } from '../../models/access/role.js';
import { Menu } from '../../models/access/tables.js';
import { updateRows } from '../../models/tables/rows.js';
import { User } from '../../models/trade/tables.js';
import { createUser } from '../../models/trade/user.js';
import { administrators, customers, departments, roles } from './words.js';

export interface Person {
  id: number;
  username: string;
}

/** Ids by the value of a unique column. */
async function idsBy(table: string, column: string): Promise<Map<string, number>> {
  const rows = await select<{ id: number; name: string }>(`SELECT id, ${column} AS name FROM ${table}`);
  return new Map(rows.map(({ id, name }) => [name, id]));
}

/** @returns the administrators, who have made what follows */
export async function fillOffice(holder: Holder): Promise<Person[]> {
  const departmentIds = await fillDepartments();
  const roleIds = await fillRoles(holder);
  const known = await idsBy('admins', 'username');
  for (const [username, nickname, role, department] of administrators) {
    if (known.has(username)) continue;
    const role_ids = [roleIds.get(role) ?? 0];
    const fields = { username, nickname, role_ids, department_id: departmentIds.get(department) };
    // They cannot sign in until an administrator sets a password.
    known.set(username, await createAdmin(holder, { ...fields, password: `${randomToken(18)}-Aa1` }));
  }
  return administrators.map(([username]) => ({ id: known.get(username) ?? 0, username }));
}

async function fillDepartments(): Promise<Map<string, number>> {
  const known = await idsBy('departments', 'code');
  for (const { name, code, leader, children } of departments) {
    if (!known.has(code)) known.set(code, await createDepartment({ name, code, leader }));
    for (const [at, child] of children.entries()) {
      const own = `${code}-${at + 1}`;
      const fields = { name: child, code: own, parent_id: known.get(code), sort: at };
      if (!known.has(own)) known.set(own, await createDepartment(fields));
    }
  }
  return known;
}

async function fillRoles(holder: Holder): Promise<Map<string, number>> {
  const known = await idsBy('roles', 'slug');
  const permissions = await idsBy('permissions', 'slug');
  const menus = await Menu.findAll({ attributes: ['id'] });
  for (const { grants, ...fields } of roles) {
    if (known.has(fields.slug)) continue;
    const granted = [...permissions].filter(([slug]) => grants.includes(slug.split('.')[0] ?? ''));
    const rights = { permission_ids: granted.map(([, id]) => id), menu_ids: menus.map(({ id }) => id) };
    known.set(fields.slug, await createRole(holder, { ...fields, ...rights }));
  }
  return known;
}

/** @returns customers who may order */
export async function fillCustomers(): Promise<Person[]> {
  const known = await idsBy('users', 'username');
  for (const [at, { username, nickname }] of customers.entries()) {
    if (known.has(username)) continue;
    const phone = `138${String(10_000_000 + at * 7919).slice(0, 8)}`;
    const id = await createUser({ username, nickname, email: `${username}@example.com`, phone });
    // Customers are older than their orders; a new user gets the machine's time.
    const made = new Date(now().getTime() - (customers.length - at) * 3_600_000);
    await transact((t) => updateRows(User, { created_at: made, updated_at: made }, { id }, t));
    known.set(username, id);
  }
  return customers.map(({ username }) => ({ id: known.get(username) ?? 0, username }));
}
