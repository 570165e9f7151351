// The database of a test file: the first file of a run creates it by the migrations, the others copy the result.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'mysql2';
import { createConnection, type Connection, type QueryOptions, type RowDataPacket } from 'mysql2/promise';
import { createDatabase, prepareDatabase } from '../../src/models/migrations/schema.js';

type TypeCast = Exclude<QueryOptions['typeCast'], boolean | undefined>;

/** Settings that the content of a new database depends on. */
const contentSettings = ['NODE_ENV', 'APP_KEY', 'BCRYPT_COST', 'ADMIN_PASSWORD'];

/** Like `prepareDatabase`, which finds nothing to do on a copy. */
export async function prepareTestDatabase(seed: () => Promise<void>): Promise<void> {
  const isCopied = await copyPreparedDatabase();
  await prepareDatabase(seed);
  const file = copyFile();
  if (isCopied || file === undefined) return;
  // Two first files may write it at once.
  writeFileSync(`${file}.${process.env.DB_NAME}`, await withConnection(statementsOf));
  renameSync(`${file}.${process.env.DB_NAME}`, file);
}

/** Fills the database of this process unless it has tables: a file may start the service twice. @returns false while there is no copy */
export async function copyPreparedDatabase(): Promise<boolean> {
  const file = copyFile();
  if (file === undefined || !existsSync(file)) return false;
  await createDatabase();
  await withConnection(async (connection) => {
    const [tables] = await connection.query<RowDataPacket[]>('SHOW TABLES');
    if (tables.length === 0) await connection.query(readFileSync(file, 'utf8'));
  });
  return true;
}

/** The copy of these settings, in the folder of the run; undefined without one. */
function copyFile(): string | undefined {
  const { THROW_AWAY_HOME } = process.env;
  const hash = createHash('sha256').update(JSON.stringify(contentSettings.map((name) => process.env[name])));
  return THROW_AWAY_HOME && join(THROW_AWAY_HOME, `database-${hash.digest('hex').slice(0, 16)}.sql`);
}

/** Every table with its rows. */
async function statementsOf(connection: Connection): Promise<string> {
  const statements: string[] = [];
  const [tables] = await connection.query<RowDataPacket[][]>({ sql: 'SHOW TABLES', rowsAsArray: true });
  for (const [table] of tables as unknown as [string][]) {
    const [[made]] = await connection.query<RowDataPacket[]>('SHOW CREATE TABLE ??', [table]);
    statements.push((made as { 'Create Table': string })['Create Table']);
    const [rows] = await connection.query<RowDataPacket[][]>({
      ...{ sql: 'SELECT * FROM ??', values: [table], rowsAsArray: true },
      typeCast: ((field, next) => (field.type === 'JSON' ? field.string() : next())) satisfies TypeCast,
    });
    if (rows.length > 0) statements.push(format('INSERT INTO ?? VALUES ?', [table, rows]));
  }
  return statements.join(';\n');
}

async function withConnection<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
  const { DB_HOST, DB_PORT, DB_USER, DB_PASSWORD, DB_NAME } = process.env;
  const connection = await createConnection({
    ...{ host: DB_HOST, port: Number(DB_PORT), user: DB_USER, password: DB_PASSWORD, database: DB_NAME },
    ...{
      charset: 'utf8mb4_unicode_ci',
      multipleStatements: true,
      dateStrings: true,
      supportBigNumbers: true,
    },
  });
  try {
    // Tables come by their names, also those that refer to later ones.
    await connection.query("SET time_zone = '+00:00', foreign_key_checks = 0");
    return await work(connection);
  } finally {
    connection.destroy();
  }
}
