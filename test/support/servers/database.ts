// A private MariaDB (or MySQL) of a test, and connections to it beside those of the service.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import { asRoot, OwnServer, programPath } from './faults.js';
import { freePort } from './free-port.js';

const user = 'tester';
/** The account of the service: it owns the databases of tests and has no rights over the server. */
const service = 'service';
const server = (): string => programPath('mariadbd', 'mysqld');

export class OwnDatabase extends OwnServer {
  /** The file of its settings. */
  protected file = '--no-defaults';
  override readonly env = {
    DB_HOST: '127.0.0.1',
    DB_PORT: String(this.port),
    DB_USER: service,
    DB_PASSWORD: '',
    DATABASE_URL: '',
  };

  /** Options of the server besides the common ones; a later one wins. */
  readonly options: string[];
  readonly data = join(this.folder, 'data');
  readonly #accounts = join(this.folder, 'accounts.sql');
  // A server that starts deletes the temporary tables it finds, also those of another one.
  readonly #folders = [`--datadir=${this.data}`, `--tmpdir=${this.folder}`];
  readonly #authority: string | undefined;

  /** @param authority of its certificate, when it requires TLS */
  constructor(port: number, options: string[] = [], authority?: string) {
    super(port);
    this.options = options;
    this.#authority = authority;
  }

  /** The connections that the service has, and for how long nothing was asked on each. */
  connections(): Promise<{ id: number; restedSeconds: number }[]> {
    return this.select(
      `SELECT id, IF(command = 'Sleep', time, 0) AS restedSeconds FROM information_schema.processlist WHERE user = ?`,
      [service],
    );
  }

  /** Rows of a query, over a connection of its own. */
  async select<T>(sql: string, values: (string | number)[] = [], database?: string): Promise<T[]> {
    const connection = await this.connect(database);
    try {
      const [rows] = await connection.query<RowDataPacket[]>(sql, values);
      return rows as T[];
    } finally {
      connection.destroy();
    }
  }

  /** A connection to the test's database; its opener closes it. */
  connect(database = process.env.DB_NAME): Promise<Connection> {
    const address = { host: '127.0.0.1', port: this.port, user, timezone: 'Z' };
    const ssl = this.#authority === undefined ? undefined : { ca: this.#authority };
    return createConnection({ ...address, database, connectTimeout: 2000, ssl });
  }

  /** Sends statements one after the other, over a connection of its own. */
  async run(...statements: string[]): Promise<void> {
    const connection = await this.connect('');
    try {
      for (const sql of statements) await connection.query(sql);
    } finally {
      connection.destroy();
    }
  }

  /** Makes the data folder and the account. */
  async install(): Promise<void> {
    writeFileSync(
      this.#accounts,
      [
        // Read at each start; a replica must not log anything of its own.
        'SET SESSION sql_log_bin = 0;',
        `CREATE USER IF NOT EXISTS '${user}'@'%', '${service}'@'%';`,
        `GRANT ALL PRIVILEGES ON *.* TO '${user}'@'%';`,
        `GRANT ALL PRIVILEGES ON \`test\\_%\`.* TO '${service}'@'%';\n`,
      ].join('\n'),
    );
    const common = [this.file, ...this.#folders, ...asRoot, ...this.options];
    const run = promisify(execFile);
    const isMariaDb = server().endsWith('mariadbd');
    if (isMariaDb)
      await run(programPath('mariadb-install-db'), [
        ...common,
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
      ]);
    else await run(server(), [...common, '--initialize-insecure']);
  }

  protected override command(): [string, ...string[]] {
    return [
      server(),
      ...[this.file, ...this.#folders, ...asRoot, `--init-file=${this.#accounts}`],
      ...[`--port=${this.port}`, '--bind-address=127.0.0.1', '--socket=server.sock', '--pid-file=server.pid'],
      ...['--skip-name-resolve', '--skip-log-bin', '--innodb-buffer-pool-size=64M', '--loose-mysqlx=OFF'],
      ...this.options,
    ];
  }

  protected override async answers(): Promise<boolean> {
    const connection = await this.connect('');
    connection.destroy();
    return true;
  }
}

/** Starts one with an empty database server. @param options of the server @param fileLimit how large its files may grow, in KiB */
export async function startOwnDatabase(options: string[] = [], fileLimit?: number): Promise<OwnDatabase> {
  const server = new OwnDatabase(await freePort(), options);
  server.fileLimit = fileLimit;
  await server.install();
  await server.start();
  return server;
}
