// Makes room for a backup: the database without a table, and without anybody who uses it.
import type { RowDataPacket } from 'mysql2/promise';
import { config } from '../../../config/index.js';
import { openConnection } from '../../lib/database/connection.js';

const statementSeconds = 600;

/**
 * Drops every table of the database, if that is allowed; does nothing to one that has none.
 *
 * @throws Error while somebody is connected to it: a service would write into what goes and what comes
 */
export async function emptyForRestore(mayDrop: boolean): Promise<void> {
  const { name } = config.database;
  const connection = await openConnection({ database: name, statementSeconds });
  const select = async <T>(sql: string): Promise<T[]> =>
    (await connection.query<RowDataPacket[]>(sql, [name]))[0] as T[];
  try {
    const others = await select(
      'SELECT ID FROM information_schema.PROCESSLIST WHERE DB = ? AND ID <> CONNECTION_ID()',
    );
    if (others.length > 0)
      throw new Error(
        `${others.length} connections use ${name}: stop the service first (pm2 stop ecosystem.config.js)`,
      );
    const tables = await select<{ name: string }>(
      'SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = ?',
    );
    if (tables.length === 0) return;
    if (!mayDrop)
      throw new Error(`${name} is not empty: restore into an empty database, or give --overwrite`);
    await connection.query('SET SESSION foreign_key_checks = 0');
    for (const table of tables) await connection.query('DROP TABLE ??', [table.name]);
  } finally {
    connection.destroy();
  }
}
