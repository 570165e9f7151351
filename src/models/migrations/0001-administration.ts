// Administrators and their rights: departments, admins, roles, menus, permissions, sessions.
import type { Migration } from './migration.js';

const times = `created_at DATETIME(3) NOT NULL, updated_at DATETIME(3) NOT NULL`;

const tables = [
  `CREATE TABLE IF NOT EXISTS departments (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    parent_id BIGINT UNSIGNED NOT NULL DEFAULT 0,
    name VARCHAR(50) NOT NULL,
    code VARCHAR(50) NULL,
    leader VARCHAR(50) NULL,
    phone VARCHAR(30) NULL,
    email VARCHAR(100) NULL,
    remark VARCHAR(255) NULL,
    status TINYINT NOT NULL DEFAULT 1,
    sort INT NOT NULL DEFAULT 0,
    ${times},
    KEY ix_departments_parent (parent_id)
  )`,
  `CREATE TABLE IF NOT EXISTS admins (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    username VARCHAR(50) NOT NULL,
    password_hash VARCHAR(100) NOT NULL,
    nickname VARCHAR(50) NOT NULL,
    email VARCHAR(100) NULL,
    phone VARCHAR(30) NULL,
    avatar VARCHAR(500) NULL,
    status TINYINT NOT NULL DEFAULT 1,
    department_id BIGINT UNSIGNED NULL,
    last_login_at DATETIME(3) NULL,
    ${times},
    UNIQUE KEY uq_admins_username (username),
    KEY ix_admins_department (department_id)
  )`,
  `CREATE TABLE IF NOT EXISTS roles (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name VARCHAR(50) NOT NULL,
    slug VARCHAR(50) NOT NULL,
    description VARCHAR(255) NULL,
    status TINYINT NOT NULL DEFAULT 1,
    sort INT NOT NULL DEFAULT 0,
    ${times},
    UNIQUE KEY uq_roles_slug (slug)
  )`,
  `CREATE TABLE IF NOT EXISTS menus (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    parent_id BIGINT UNSIGNED NOT NULL DEFAULT 0,
    title VARCHAR(50) NOT NULL,
    slug VARCHAR(100) NOT NULL,
    icon VARCHAR(100) NULL,
    path VARCHAR(255) NULL,
    component VARCHAR(255) NULL,
    type TINYINT NOT NULL,
    status TINYINT NOT NULL DEFAULT 1,
    sort INT NOT NULL DEFAULT 0,
    is_hidden TINYINT NOT NULL DEFAULT 0,
    link_type TINYINT NOT NULL DEFAULT 1,
    open_type TINYINT NOT NULL DEFAULT 1,
    no_cache TINYINT NOT NULL DEFAULT 0,
    module VARCHAR(20) NULL,
    ${times},
    UNIQUE KEY uq_menus_slug (slug),
    KEY ix_menus_parent (parent_id)
  )`,
  `CREATE TABLE IF NOT EXISTS permissions (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name VARCHAR(100) NOT NULL,
    slug VARCHAR(100) NOT NULL,
    method VARCHAR(10) NOT NULL,
    path VARCHAR(255) NOT NULL,
    menu_id BIGINT UNSIGNED NULL,
    description VARCHAR(255) NULL,
    status TINYINT NOT NULL DEFAULT 1,
    sort INT NOT NULL DEFAULT 0,
    is_builtin TINYINT NOT NULL DEFAULT 0,
    ${times},
    UNIQUE KEY uq_permissions_slug (slug),
    CONSTRAINT fk_permissions_menu FOREIGN KEY (menu_id) REFERENCES menus (id) ON DELETE SET NULL
  )`,
  `CREATE TABLE IF NOT EXISTS admin_roles (
    admin_id BIGINT UNSIGNED NOT NULL,
    role_id BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (admin_id, role_id),
    CONSTRAINT fk_admin_roles_admin FOREIGN KEY (admin_id) REFERENCES admins (id) ON DELETE CASCADE,
    CONSTRAINT fk_admin_roles_role FOREIGN KEY (role_id) REFERENCES roles (id)
  )`,
  `CREATE TABLE IF NOT EXISTS role_permissions (
    role_id BIGINT UNSIGNED NOT NULL,
    permission_id BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (role_id, permission_id),
    CONSTRAINT fk_role_permissions_role FOREIGN KEY (role_id) REFERENCES roles (id) ON DELETE CASCADE,
    CONSTRAINT fk_role_permissions_permission FOREIGN KEY (permission_id) REFERENCES permissions (id) ON DELETE CASCADE
  )`,
  `CREATE TABLE IF NOT EXISTS role_menus (
    role_id BIGINT UNSIGNED NOT NULL,
    menu_id BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (role_id, menu_id),
    CONSTRAINT fk_role_menus_role FOREIGN KEY (role_id) REFERENCES roles (id) ON DELETE CASCADE,
    CONSTRAINT fk_role_menus_menu FOREIGN KEY (menu_id) REFERENCES menus (id) ON DELETE CASCADE
  )`,
  `CREATE TABLE IF NOT EXISTS admin_sessions (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    jti CHAR(26) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    admin_id BIGINT UNSIGNED NOT NULL,
    ip VARCHAR(45) NOT NULL,
    user_agent VARCHAR(500) NOT NULL,
    browser VARCHAR(50) NOT NULL,
    os VARCHAR(50) NOT NULL,
    last_used_at DATETIME(3) NOT NULL,
    expires_at DATETIME(3) NOT NULL,
    revoked_at DATETIME(3) NULL,
    created_at DATETIME(3) NOT NULL,
    UNIQUE KEY uq_admin_sessions_jti (jti),
    KEY ix_admin_sessions_admin (admin_id, revoked_at),
    KEY ix_admin_sessions_used (last_used_at),
    CONSTRAINT fk_admin_sessions_admin FOREIGN KEY (admin_id) REFERENCES admins (id) ON DELETE CASCADE
  )`,
];

export const administration: Migration = {
  name: '0001-administration',
  async up(run) {
    for (const table of tables) await run(table);
  },
  async down(run) {
    const names =
      'admin_sessions role_menus role_permissions admin_roles permissions menus roles admins departments';
    for (const name of names.split(' ')) await run(`DROP TABLE IF EXISTS ${name}`);
  },
};
