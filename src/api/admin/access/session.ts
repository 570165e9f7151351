// /info, /logout, /heartbeat, /profile, /profile/sessions, /password: the caller's own session and account.
import Joi from 'joi';
import { config } from '../../../../config/index.js';
import { channelTypes, enabledTypes, openTypes } from '../../../lib/channels/index.js';
import { now } from '../../../lib/values/clock.js';
import { currentLanguage } from '../../../lib/process/context.js';
import { fail } from '../../../lib/errors/app-error.js';
import { Money } from '../../../lib/values/money.js';
import { languages } from '../../../lib/values/language.js';
import {
  assertDiffersFromOld,
  assertDiffersFromUsername,
  newPassword,
} from '../../../lib/secrets/password-policy.js';
import { email, phone, nonEmptyText, webAddress } from '../../../lib/input/schema.js';
import { refuseField } from '../../../lib/input/validation.js';
import { type AdminFields, storePassword, getAdmin, updateAdmin } from '../../../models/access/admin.js';
import { revokeSessions } from '../../../models/access/admin-session.js';
import type { Identity } from '../../../models/access/identity.js';
import { endOwnSession, listOwnSessions } from '../../../models/access/online-admin.js';
import { AdminSession } from '../../../models/access/tables.js';
import { countUnread } from '../../../models/office/notification-inbox.js';
import { findByPassword } from '../../../models/access/sign-in.js';
import { allPermissionSlugs } from '../../../models/access/permission.js';
import { menuTreeFor } from '../../../models/access/menu.js';
import { adminKeys, menuForest } from '../../declare/records.js';
import {
  amountOrNull,
  type Answered,
  flag,
  integer,
  keysOf,
  listOf,
  oneOf,
  record,
  resource,
  text,
  timestamp,
} from '../../declare/response.js';
import { route } from '../../declare/route.js';
import { passwordChange } from '../../flows/sign-in-limits.js';

type ProfileFields = Partial<Pick<AdminFields, 'nickname' | 'email' | 'phone' | 'avatar'>>;

interface PasswordBody {
  old_password: string;
  password: string;
  password_confirmation: string;
}

const ownSession = resource('OwnSession', {
  ...keysOf(AdminSession, 'id', 'ip', 'browser', 'os', 'created_at'),
  last_active: timestamp(),
  is_current: flag(),
});

const profile = resource('Profile', {
  ...adminKeys,
  password_must_change: flag(),
  permissions: listOf(Joi.string()),
  menus: menuForest,
  config: record({
    payment_gateways: listOf(Joi.valid(...channelTypes)),
    payment_results: listOf(Joi.valid(...channelTypes)),
    payments_enabled: flag(),
    orders_enabled: flag(),
    upload_extensions: listOf(Joi.string()),
    upload_max_bytes: integer(),
    import_max_bytes: integer(),
    refund_approval_above: amountOrNull(),
    locale: oneOf(...languages),
    version: text(),
  }),
});

export const routes = [
  route('GET', '/info', {
    name: 'getProfile',
    summary: 'Get the signed-in administrator with permissions, menus and configuration',
    access: 'signedIn',
    beforePasswordChange: true,
    fails: ['admin_not_found'],
    response: profile,
    handle: ({ admin }) => profileOf(admin),
  }),
  route('POST', '/logout', {
    name: 'signOut',
    summary: 'Revoke the token',
    title: { zh: '退出登录', en: 'Sign out' },
    access: 'signedIn',
    beforePasswordChange: true,
    async handle({ admin }) {
      await revokeSessions({ jti: admin.jti });
    },
  }),
  route('GET', '/heartbeat', {
    name: 'keepAlive',
    summary: 'Keep the session alive',
    access: 'signedIn',
    response: record({ server_time: timestamp(), unread_count: integer() }),
    handle: async ({ admin }) => ({ server_time: now(), unread_count: await countUnread(admin.adminId) }),
  }),
  route('PUT', '/profile', {
    name: 'updateProfile',
    summary: 'Change your profile',
    title: { zh: '修改个人资料', en: 'Change my profile' },
    description: 'Only the fields sent change; an empty text clears a field, but not the nickname.',
    access: 'signedIn',
    body: Joi.object<ProfileFields, true>({
      nickname: nonEmptyText(50),
      email: email(),
      phone: phone(),
      avatar: webAddress(500),
    }),
    fails: ['admin_not_found'],
    response: profile,
    subject: ({ admin }, t) => getAdmin(admin.adminId, t),
    async handle({ admin, body }) {
      await updateAdmin(admin, admin.adminId, body);
      return profileOf(admin);
    },
  }),
  route('GET', '/profile/sessions', {
    name: 'listOwnSessions',
    summary: 'List your sessions',
    description: 'Last used first, at most 100; `is_current` marks the session of this request.',
    access: 'signedIn',
    response: listOf(ownSession),
    handle: ({ admin }) => listOwnSessions(admin),
  }),
  route('DELETE', '/profile/sessions/{id}', {
    name: 'endOwnSession',
    summary: 'End one of your sessions at once',
    title: { zh: '结束个人会话', en: 'End a session of mine' },
    access: 'signedIn',
    fails: ['online_admin_not_found'],
    handle: ({ admin, params }) => endOwnSession(admin, params.id),
  }),
  route('PUT', '/password', {
    name: 'changePassword',
    summary: 'Change your password and end your other sessions',
    title: { zh: '修改个人密码', en: 'Change my password' },
    access: 'signedIn',
    beforePasswordChange: true,
    body: Joi.object<PasswordBody, true>({
      old_password: Joi.string().min(1).max(200).required(),
      password: newPassword().required(),
      password_confirmation: Joi.string().min(1).max(200).required(),
    }),
    aliases: { new_password: 'password', confirm_password: 'password_confirmation' },
    fails: ['login_locked', 'old_password_wrong'],
    async handle({ admin, body }) {
      if (body.password_confirmation !== body.password) {
        refuseField('value_not_acceptable', 'password_confirmation', 'password.confirmation');
      }
      assertDiffersFromUsername(body.password, admin.username);
      assertDiffersFromOld(body.password, body.old_password);
      await passwordChange.assertNotLocked(admin.adminId);
      const proven = await findByPassword(admin.username, body.old_password);
      if (!proven) {
        await passwordChange.countFailure(admin.adminId);
        fail('old_password_wrong', { field: 'old_password' });
      }
      // As at sign-in: a right guess among concurrent ones must fail.
      await passwordChange.assertNotLocked(admin.adminId);
      await storePassword(proven.id, body.password, {
        mustChange: false,
        except: admin.jti,
        proven: proven.password_hash,
      });
      await passwordChange.clear(admin.adminId);
    },
  }),
];

async function profileOf(identity: Identity): Promise<Answered<typeof profile>> {
  const [admin, permissions, menus] = await Promise.all([
    getAdmin(identity.adminId),
    identity.isSuperAdmin
      ? allPermissionSlugs()
      : [...new Set(identity.rules.map(({ slug }) => slug))].sort(),
    menuTreeFor(identity),
  ]);
  const { refundApprovalAbove: approvalAbove } = config.payments;
  const { id, username, nickname, email, phone, avatar, department_id, department, roles } = admin;
  return {
    id,
    username,
    nickname,
    email,
    phone,
    avatar,
    department_id,
    department,
    roles,
    is_super_admin: identity.isSuperAdmin,
    password_must_change: identity.needsPasswordChange,
    permissions,
    menus,
    config: {
      payment_gateways: enabledTypes(),
      payment_results: openTypes(),
      payments_enabled: config.payments.enabled,
      orders_enabled: config.app.ordersEnabled,
      upload_extensions: config.storage.extensions,
      upload_max_bytes: config.storage.chunkedMaxBytes,
      import_max_bytes: config.storage.importMaxBytes,
      refund_approval_above: approvalAbove === undefined ? null : Money.from(approvalAbove),
      locale: currentLanguage(),
      version: config.version,
    },
  };
}
