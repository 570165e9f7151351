// /departments: the tree administrators belong to.
import Joi from 'joi';
import {
  email,
  nonEmptyText,
  noneToZero,
  optionalMultiline,
  optionalText,
  parent,
  phone,
  sort,
  status,
  textFilter,
} from '../../../lib/input/schema.js';
import {
  createDepartment,
  deleteDepartment,
  type DepartmentFields,
  departmentTree,
  getDepartment,
  updateDepartment,
} from '../../../models/access/department.js';
import { Department } from '../../../models/access/tables.js';
import { enabled, flag, forestOf, keysOf, record, resource } from '../../declare/response.js';
import { can, required, route } from '../../declare/route.js';

const keys = { ...keysOf(Department), status: enabled(), in_use: flag() };

const department = resource('Department', keys);

const fields = {
  name: nonEmptyText(50),
  parent_id: parent(),
  code: optionalText(50),
  leader: optionalText(50),
  phone: phone(),
  email: email(),
  remark: optionalMultiline(255),
  status: status(),
  sort: sort(),
};

export const routes = [
  route('GET', '/departments', {
    name: 'listDepartments',
    summary: 'Get the department tree, or matching departments as a flat list',
    access: can('department.index', '查看部门列表', 'List departments'),
    query: Joi.object<{ name?: string; status?: number }, true>({
      name: textFilter(50),
      status: status(),
    }),
    response: record({ list: forestOf('DepartmentNode', keys) }),
    handle: async ({ query }) => ({ list: await departmentTree(query) }),
  }),
  route('POST', '/departments', {
    name: 'createDepartment',
    summary: 'Create a department',
    access: can('department.store', '创建部门', 'Create departments'),
    body: Joi.object<DepartmentFields, true>(fields).fork(['name'], required),
    fails: ['department_not_found', 'department_too_deep', 'department_unknown'],
    response: department,
    handle: async ({ body }) => getDepartment(await createDepartment(noneToZero(body))),
    repeat: (id) => getDepartment(id),
  }),
  route('GET', '/departments/{id}', {
    name: 'showDepartment',
    summary: 'Show a department',
    access: can('department.show', '查看部门', 'Show departments'),
    fails: ['department_not_found'],
    response: department,
    handle: ({ params }) => getDepartment(params.id),
  }),
  route('PUT', '/departments/{id}', {
    name: 'updateDepartment',
    summary: 'Change or move a department',
    access: can('department.update', '修改部门', 'Change departments'),
    body: Joi.object<Partial<DepartmentFields>, true>(fields),
    fails: ['department_cycle', 'department_not_found', 'department_too_deep', 'department_unknown'],
    response: department,
    subject: ({ params }, t) => getDepartment(params.id, t),
    async handle({ params, body }) {
      await updateDepartment(params.id, noneToZero(body));
      return getDepartment(params.id);
    },
  }),
  route('DELETE', '/departments/{id}', {
    name: 'deleteDepartment',
    summary: 'Delete a department without children and administrators',
    access: can('department.destroy', '删除部门', 'Delete departments'),
    fails: ['department_has_admins', 'department_has_children', 'department_not_found'],
    subject: ({ params }, t) => getDepartment(params.id, t),
    handle: ({ params }) => deleteDepartment(params.id),
  }),
];
