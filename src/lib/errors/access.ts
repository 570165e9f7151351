// Sign-in, sessions, rights, administrators, roles, menus, permissions and departments.
import { outcomes } from './outcomes.js';

export const access = {
  ...outcomes(400, 10005, {
    captcha_required: ['请输入验证码', 'A captcha is required'],
    captcha_invalid: ['验证码错误或已失效', 'The captcha is wrong or has expired'],
  }),
  ...outcomes(400, 40001, {
    last_super_admin: ['至少需要保留一个启用的超级管理员', 'At least one enabled super administrator must remain'],
  }),
  ...outcomes(400, 40002, {
    admin_delete_self: ['不能删除自己', 'You cannot delete yourself'],
    role_in_use: ['角色正在使用中，无法删除', 'The role is in use and cannot be deleted'],
    menu_has_children: ['菜单存在子菜单，无法删除', 'The menu has children and cannot be deleted'],
    department_has_children: ['部门存在下级部门，无法删除', 'The department has children and cannot be deleted'],
    department_has_admins: ['部门下存在管理员，无法删除', 'The department has administrators and cannot be deleted'],
  }),
  ...outcomes(400, 40003, {
    admin_disable_self: ['不能禁用自己', 'You cannot disable yourself'],
  }),
  ...outcomes(401, 401, {
    not_logged_in: ['请先登录', 'Please sign in'],
  }),
  ...outcomes(401, 10001, {
    username_or_password_error: ['用户名或密码错误', 'Wrong username or password'],
  }),
  ...outcomes(401, 10003, {
    token_expired: ['登录已过期，请重新登录', 'The token has expired, please sign in again'],
  }),
  ...outcomes(401, 10004, {
    token_revoked: ['登录已失效，请重新登录', 'The token has been revoked, please sign in again'],
  }),
  ...outcomes(401, 10007, {
    token_invalid: ['登录凭证无效', 'The token is invalid'],
  }),
  ...outcomes(403, 10002, {
    account_disabled: ['账号已被禁用', 'The account is disabled'],
  }),
  ...outcomes(403, 20001, {
    no_permission: ['没有操作权限', 'You have no permission for this operation'],
  }),
  ...outcomes(403, 20003, {
    password_change_required: ['密码由他人设置，请先修改密码', 'The password was set by somebody else and must be changed first'],
    grant_beyond_own: ['不能授予或修改超出自身权限的内容', 'You may not grant or change rights beyond your own'],
    super_admin_protected: ['只有超级管理员可以操作超级管理员', 'Only a super administrator may change super administrators'],
    builtin_permission_protected: ['只有超级管理员可以修改内置权限', 'Only a super administrator may change built-in permissions'],
    super_admin_role_protected: [
      '超级管理员角色的标识和状态不可修改，也不可删除',
      'Slug and status of the super-administrator role are fixed, and it cannot be deleted',
    ],
    module_orders_disabled: ['订单模块未启用', 'The order module is switched off'],
    module_payments_disabled: ['支付模块未启用', 'The payment module is switched off'],
  }),
  ...outcomes(404, 20002, {
    admin_not_found: ['管理员不存在', 'The administrator does not exist'],
    role_not_found: ['角色不存在', 'The role does not exist'],
    menu_not_found: ['菜单不存在', 'The menu does not exist'],
    permission_not_found: ['权限不存在', 'The permission does not exist'],
    department_not_found: ['部门不存在', 'The department does not exist'],
  }),
  ...outcomes(422, 10001, {
    old_password_wrong: ['原密码错误', 'The old password is wrong'],
  }),
  ...outcomes(422, 30001, {
    menu_cycle: ['上级菜单不能是自己或自己的下级', 'A menu cannot be placed below itself'],
    menu_too_deep: ['菜单最多 {depth} 级', 'Menus may be nested {depth} levels deep at most'],
    department_cycle: ['上级部门不能是自己或自己的下级', 'A department cannot be placed below itself'],
    department_too_deep: ['部门最多 {depth} 级', 'Departments may be nested {depth} levels deep at most'],
  }),
  ...outcomes(422, 30002, {
    username_exists: ['用户名已存在', 'The username is taken'],
    role_slug_exists: ['角色标识已存在', 'The role slug is taken'],
    menu_slug_exists: ['菜单标识已存在', 'The menu slug is taken'],
    permission_slug_exists: ['权限标识已存在', 'The permission slug is taken'],
  }),
  ...outcomes(422, 30003, {
    admin_unknown: ['所选管理员不存在或已停用', 'The administrator referred to does not exist or is disabled'],
    department_unknown: ['所选部门不存在', 'The department referred to does not exist'],
    role_unknown: ['所选角色不存在', 'A role referred to does not exist'],
    menu_unknown: ['所选菜单不存在', 'A menu referred to does not exist'],
    permission_unknown: ['所选权限不存在', 'A permission referred to does not exist'],
  }),
  ...outcomes(429, 10006, {
    login_locked: ['登录失败次数过多，请稍后再试', 'Too many failed sign-ins, please try again later'],
  }),
};
