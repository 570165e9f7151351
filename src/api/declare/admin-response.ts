// The fields of an administrator in the resource and the profile.
import { flag, keysOf, listOf, record, recordOrNull } from './response.js';
import { Admin, Department, Role } from '../../models/access/tables.js';

export const adminKeys = {
  ...keysOf(Admin, 'id', 'username', 'nickname', 'email', 'phone', 'avatar', 'department_id'),
  department: recordOrNull(keysOf(Department, 'id', 'name')),
  roles: listOf(record(keysOf(Role, 'id', 'name', 'slug'))),
  is_super_admin: flag(),
};
