// Administrators.
import { lazy } from 'react';
import { code, flag, named, namedList, status, text, time } from '../parts/show/cells.tsx';
import {
  newUsername,
  onOff,
  option,
  options,
  newPassword,
  status as statusFilter,
  words,
} from '../parts/form/fields.tsx';
import type { Row } from '../contract/api.ts';
import { resource } from '../parts/resource.ts';
import type { Profile } from '../parts/show/profile.ts';

/** Only a super administrator may act upon another one. */
const mayActOn = ({ is_super_admin }: Row<'GET /api/admin/admins'>, own: Profile): boolean =>
  !is_super_admin || own.is_super_admin;

export default resource('GET /api/admin/admins', {
  name: 'admins',
  title: ['管理员', 'Administrators'],
  one: ['管理员', 'administrator'],
  label: 'username',
  labels: {
    roles: ['角色', 'Roles'],
    role_ids: ['角色', 'Roles'],
    is_super_admin: ['超级管理员', 'Super administrator'],
  },
  stale: ['identity'],
  filters: {
    username: words(),
    nickname: words(),
    status: statusFilter(),
    department_id: option('department'),
    role_id: option('role'),
  },
  dateRange: true,
  columns: {
    username: code(150),
    nickname: text(),
    roles: namedList('name'),
    department: named('name'),
    status: status(),
    last_login_at: time(),
    created_at: time(),
  },
  folded: ['created_at'],
  more: { email: text(), phone: text(), is_super_admin: flag(), updated_at: time() },
  show: 'GET /api/admin/admins/{id}',
  create: {
    route: 'POST /api/admin/admins',
    fields: {
      username: newUsername(),
      password: newPassword(),
      nickname: words(),
      role_ids: options('role'),
      department_id: option('department'),
      email: words(),
      phone: words(),
      status: onOff(),
    },
  },
  update: {
    route: 'PUT /api/admin/admins/{id}',
    fields: {
      nickname: words(),
      role_ids: { ...options('role'), from: (row) => (row.roles as { id: number }[]).map(({ id }) => id) },
      department_id: option('department'),
      email: words(),
      phone: words(),
      status: onOff(),
    },
  },
  actions: [
    {
      route: 'PUT /api/admin/admins/{id}/password',
      text: ['重置密码', 'Reset password'],
      when: mayActOn,
      form: { password: newPassword() },
    },
    {
      route: 'DELETE /api/admin/admins/{id}/tokens',
      text: ['强制下线', 'Sign out everywhere'],
      when: mayActOn,
      danger: true,
      sure: [
        '该管理员的所有会话都会立即结束，确定？',
        'This signs the administrator out everywhere. Continue?',
      ],
    },
  ],
  remove: 'DELETE /api/admin/admins/{id}',
  removable: (row, own) => row.id !== own.id && mayActOn(row, own),
  exportTo: 'POST /api/admin/admins/export',
  detail: lazy(() => import('./admin.tsx')),
});
