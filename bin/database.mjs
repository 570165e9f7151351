// A private MariaDB (or MySQL): loopback only, strict, durable commits, one account for the service.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { answers, LOOPBACK, startServer } from './daemon.mjs';
import { atEnd } from './lifetime.mjs';
import { findProgram, run } from './process.mjs';
import { Failure } from './step.mjs';

const DATABASE_NAME = 'back_office';
const USER = 'back_office';
const HANDSHAKE_VERSION = 10;

/** The MariaDB or MySQL server that is installed, if any. */
export function findDatabase() {
  return findProgram('mariadbd', 'mysqld');
}

/**
 * Starts the database server with its data in `<home>/mariadb`, creating the data directory when there is
 * none; answers the environment variables that lead to it. The account owns the database `back_office` and
 * those whose names begin so; in a throw-away instance it owns everything, as tests make their own.
 *
 * @param {{ home: string, passwords: import('./local-home.mjs').Passwords, isThrowAway: boolean }} options
 */
export async function startDatabase({ home, passwords, isThrowAway }) {
  const program = findDatabase();
  if (!program) throw new Failure('no database server is installed');
  const isMariaDb = spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout.includes('MariaDB');
  const data = path.join(home, 'mariadb');
  const temporary = path.join(home, 'mariadb-tmp');
  const accounts = path.join(home, 'accounts.sql');
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  if (!existsSync(data)) await createData(program, isMariaDb, data, temporary);
  writeFileSync(accounts, accountStatements(passwords, isThrowAway), { mode: 0o600 });
  const removeAccounts = atEnd(() => rmSync(accounts, { force: true }));
  const port = await startServer({
    name: 'mariadb',
    home,
    isThrowAway,
    program,
    argsFor: (chosen) => [
      ...commonOptions(data, temporary),
      ...(existsSync(accounts) ? [`--init-file=${accounts}`] : []), // a restart has its accounts
      ...serverOptions(chosen),
      ...(isMariaDb ? [] : ['--mysqlx=OFF']), // MySQL's second protocol would ask for a fixed port
    ],
    // The server reads the accounts file before it accepts connections.
    isReady: (chosen) => answers(chosen, '', (greeting) => greeting[4] === HANDSHAKE_VERSION),
  });
  await removeAccounts();
  return {
    DB_HOST: LOOPBACK,
    DB_PORT: String(port),
    DB_USER: USER,
    DB_PASSWORD: passwords.database,
    DB_NAME: DATABASE_NAME,
  };
}

// Built under another name and renamed, so that an interrupted creation is never mistaken for a database.
/** @param {string} server @param {boolean} isMariaDb @param {string} data @param {string} temporary */
async function createData(server, isMariaDb, data, temporary) {
  const unfinished = `${data}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700 });
  const installer = isMariaDb ? findProgram('mariadb-install-db') : server;
  if (!installer) throw new Failure('mariadb-install-db is missing');
  await run(installer, [
    ...commonOptions(unfinished, temporary),
    ...(isMariaDb
      ? ['--auth-root-authentication-method=normal', '--skip-test-db', '--skip-name-resolve']
      : ['--initialize-insecure']),
  ]);
  renameSync(unfinished, data);
}

// A separate temporary directory: a starting server deletes the temporary tables it finds, and those in /tmp
// may belong to another server.
/** @param {string} data @param {string} temporary */
function commonOptions(data, temporary) {
  const asRoot = process.getuid?.() === 0 ? ['--user=root'] : [];
  return ['--no-defaults', `--datadir=${data}`, `--tmpdir=${temporary}`, ...asRoot];
}

/** @param {number} port */
function serverOptions(port) {
  return [
    `--port=${port}`,
    `--bind-address=${LOOPBACK}`,
    // Relative to the data directory: a full path could pass the 107 characters a socket address may have.
    '--socket=mariadb.sock',
    '--pid-file=mariadb.pid',
    '--skip-name-resolve',
    '--skip-log-bin',
    '--character-set-server=utf8mb4',
    '--collation-server=utf8mb4_unicode_ci',
    '--innodb-flush-log-at-trx-commit=1',
    '--innodb-buffer-pool-size=256M',
    '--max-connections=300',
    '--performance-schema=OFF',
  ];
}

// An init file has one statement per line. It is read at every start, so a lost password is restored.
/** @param {import('./local-home.mjs').Passwords} passwords @param {boolean} ownsEverything */
function accountStatements(passwords, ownsEverything) {
  const user = `'${USER}'@'%'`;
  const grants = ownsEverything
    ? [`GRANT ALL PRIVILEGES ON *.* TO ${user} WITH GRANT OPTION;`]
    : [
        `GRANT ALL PRIVILEGES ON \`${DATABASE_NAME}\`.* TO ${user};`,
        `GRANT ALL PRIVILEGES ON \`back\\_office\\_%\`.* TO ${user};`,
      ];
  return [
    `ALTER USER 'root'@'localhost' IDENTIFIED BY '${passwords.root}';`,
    `DROP USER IF EXISTS 'root'@'127.0.0.1', 'root'@'::1', ''@'localhost';`,
    `CREATE DATABASE IF NOT EXISTS \`${DATABASE_NAME}\`;`,
    `CREATE USER IF NOT EXISTS ${user};`,
    `ALTER USER ${user} IDENTIFIED BY '${passwords.database}';`,
    ...grants,
    '',
  ].join('\n');
}
