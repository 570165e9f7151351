// .local/: where `npm start` keeps data, passwords, logs and pid files of this checkout.
import { randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { Failure, messageOf, root } from './step.mjs';

export const localHome = path.join(root, '.local');

/** @typedef {{ root: string, database: string, redis: string }} Passwords */

/** Creates `.local/`, readable only by its owner. */
export function createLocalHome() {
  try {
    mkdirSync(localHome, { recursive: true, mode: 0o700 });
    accessSync(localHome, constants.W_OK);
  } catch (error) {
    throw new Failure(`${localHome} cannot be written by this user: ${messageOf(error)}`);
  }
  return localHome;
}

/** Fresh random passwords for the database and Redis. @returns {Passwords} */
export function newPasswords() {
  const password = () => randomBytes(24).toString('hex');
  return { root: password(), database: password(), redis: password() };
}

/** The passwords of the instances in `.local/`, made at the first call. @returns {Passwords} */
export function keptPasswords() {
  const file = path.join(localHome, 'passwords.json');
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  const passwords = newPasswords();
  writeFileSync(file, JSON.stringify(passwords, null, 2), { mode: 0o600 });
  return passwords;
}
