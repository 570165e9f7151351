// What the database refuses for good: trying again changes nothing, an operator must.
import { config } from '../../../config/index.js';
import { errno } from '../../lib/database/errors.js';

const { host, port, user, name } = config.database;
const account = `the database at ${host}:${port} refuses the user "${user}"`;

// By error number. Without access to a database the server does not say whether it exists.
const refusals: Record<number, string> = {
  1044: `${account} the database "${name}": check DB_USER and DB_NAME, or grant the right to use or create it`,
  1045: `${account} with this password: check DB_USER and DB_PASSWORD (or DATABASE_URL)`,
  1142: `${account} a statement on "${name}": the user must own it (GRANT ALL PRIVILEGES)`,
  1698: `${account}, who signs in by socket only: use another one with a password`,
  3118: `${account}, whose account is locked`,
  4151: `${account}, whose account is locked`,
};

/** A sentence for the operator when the database has refused access, else undefined. */
export const accessRefusal = (error: unknown): string | undefined => refusals[errno(error) ?? 0];
