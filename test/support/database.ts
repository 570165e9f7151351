// A MariaDB (or MySQL) of a test's own, and a connection to it past the service.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import { asRoot, findProgram, OwnServer, programPath } from './faults.js';
import { freePort } from './free-port.js';

const user = 'tester';

export class OwnDatabase extends OwnServer {
  override readonly env = {
    DB_HOST: '127.0.0.1',
    DB_PORT: String(this.port),
    DB_USER: user,
    DB_PASSWORD: '',
    DATABASE_URL: '',
  };

  readonly #data = join(this.folder, 'data');
  readonly #accounts = join(this.folder, 'accounts.sql');

  /** Rows of a query, over a connection of its own. */
  async select<T>(sql: string, values: (string | number)[] = []): Promise<T[]> {
    const connection = await this.connect();
    try {
      const [rows] = await connection.query<RowDataPacket[]>(sql, values);
      return rows as T[];
    } finally {
      connection.destroy();
    }
  }

  /** A connection to the test's database; whoever opens it closes it. */
  connect(database = process.env.DB_NAME): Promise<Connection> {
    const address = { host: '127.0.0.1', port: this.port, user, timezone: 'Z' };
    return createConnection({ ...address, database, connectTimeout: 2000 });
  }

  /** Makes the data folder and the account. */
  async install(): Promise<void> {
    writeFileSync(
      this.#accounts,
      `CREATE USER IF NOT EXISTS '${user}'@'%';\nGRANT ALL PRIVILEGES ON *.* TO '${user}'@'%';\n`,
    );
    const common = ['--no-defaults', `--datadir=${this.#data}`, ...asRoot];
    const installer = findProgram('mariadb-install-db');
    const run = promisify(execFile);
    if (installer)
      await run(installer, [...common, '--auth-root-authentication-method=normal', '--skip-test-db']);
    else await run(programPath('mysqld'), [...common, '--initialize-insecure']);
  }

  protected override command(): [string, ...string[]] {
    return [
      programPath('mariadbd', 'mysqld'),
      ...['--no-defaults', `--datadir=${this.#data}`, ...asRoot, `--init-file=${this.#accounts}`],
      ...[`--port=${this.port}`, '--bind-address=127.0.0.1', '--socket=server.sock', '--pid-file=server.pid'],
      ...['--skip-name-resolve', '--skip-log-bin', '--innodb-buffer-pool-size=64M', '--loose-mysqlx=OFF'],
    ];
  }

  protected override async answers(): Promise<boolean> {
    const connection = await this.connect('');
    connection.destroy();
    return true;
  }
}

/** Starts one with an empty database server. */
export async function startOwnDatabase(): Promise<OwnDatabase> {
  const server = new OwnDatabase(await freePort());
  await server.install();
  await server.start();
  return server;
}
