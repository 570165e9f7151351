// Every table has a class, and every class matches its table.
import '../support/settings/environment.js';
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import test from 'ava';
import { closeDatabase, db, select } from '../../src/lib/database/db.js';
import { prepareDatabase } from '../../src/models/migrations/schema.js';
import { rowTime, type ColumnType } from '../../src/models/tables/column.js';
import { allTables, type TableDeclaration } from '../../src/models/tables/table.js';

/** Umzug's own. */
const foreign = ['migrations'];

interface StoredColumn {
  table_name: string;
  column_name: string;
  column_type: string;
  is_nullable: 'YES' | 'NO';
  column_default: string | null;
  collation_name: string | null;
  extra: string;
}

interface StoredKey {
  table_name: string;
  index_name: string;
  columns: string;
}

let columns: StoredColumn[];
let keys: StoredKey[];

const models = resolve(import.meta.dirname, '../../src/models');

test.before(async () => {
  await prepareDatabase(() => Promise.resolve());
  for (const name of readdirSync(models, { recursive: true }).map(String))
    if (name.endsWith('.js')) await import(resolve(models, name));
  columns = await select<StoredColumn>(
    `SELECT TABLE_NAME AS table_name, COLUMN_NAME AS column_name, COLUMN_TYPE AS column_type, IS_NULLABLE AS is_nullable,
       COLUMN_DEFAULT AS column_default, COLLATION_NAME AS collation_name, EXTRA AS extra
     FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY COLUMN_NAME`,
  );
  keys = await select<StoredKey>(
    `SELECT TABLE_NAME AS table_name, INDEX_NAME AS index_name, GROUP_CONCAT(COLUMN_NAME ORDER BY SEQ_IN_INDEX) AS columns
     FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND NON_UNIQUE = 0
     GROUP BY TABLE_NAME, INDEX_NAME ORDER BY INDEX_NAME`,
  );
});

test.after.always(async () => {
  await db.query(`DROP DATABASE \`${process.env.DB_NAME}\``);
  await closeDatabase();
});

test('every table has one class', (t) => {
  const stored = new Set(columns.map(({ table_name }) => table_name));
  t.deepEqual(
    allTables()
      .map(({ name }) => name)
      .sort(),
    [...stored].filter((name) => !foreign.includes(name)).sort(),
  );
});

test('every class is attached to the database', (t) => {
  const attached = Object.values(db.models).map((model) => model.tableName);
  const names = allTables().map(({ name }) => name);
  t.deepEqual(
    names.filter((name) => !attached.includes(name)),
    [],
  );
});

test('a class has the columns of its table with their types', (t) => {
  for (const { name: table, columns: declared } of allTables()) {
    const stored = new Map(
      columns
        .filter(({ table_name }) => table_name === table)
        .map((column) => [column.column_name, storedColumn(column)]),
    );
    t.deepEqual([...declared.keys()].sort(), [...stored.keys()].sort(), table);
    for (const [name, type] of declared)
      t.deepEqual(declaredColumn(type), stored.get(name), `${table}.${name}: class and table differ`);
  }
});

test('a class has the keys of its table', (t) => {
  for (const table of allTables()) {
    const stored = keys.filter(({ table_name }) => table_name === table.name);
    t.deepEqual(
      keysOf(table),
      Object.fromEntries(stored.map((key) => [key.index_name, key.columns])),
      table.name,
    );
  }
});

const declaredColumn = ({ is }: ColumnType<unknown>) => ({
  type: is.sqlType,
  isNullable: is.isNullable === true,
  isGenerated: is.isGenerated === true,
  isAscii: is.isAscii === true,
  preset:
    is.preset === undefined ? null : is.preset === rowTime ? 'current_timestamp' : preset(String(is.preset)),
});

const storedColumn = (stored: StoredColumn) => ({
  // MariaDB shows a width of integers.
  type: stored.column_type.replace(/int\(\d+\)/, 'int'),
  isNullable: stored.is_nullable === 'YES',
  isGenerated: stored.extra.includes('auto_increment'),
  isAscii: stored.collation_name === 'ascii_bin',
  preset: storedPreset(stored),
});

// MariaDB shows texts in quotes, and NULL as a word.
function storedPreset({ column_default: shown }: StoredColumn): string | null {
  if (shown === null || shown === 'NULL') return null;
  return /^current_timestamp/i.test(shown) ? 'current_timestamp' : preset(shown.replace(/^'(.*)'$/, '$1'));
}

const preset = (value: string): string => (/^\d+(\.\d+)?$/.test(value) ? String(Number(value)) : value);

function keysOf({ columns, unique }: TableDeclaration): Record<string, string> {
  const primary = [...columns].flatMap(([name, { is }]) => (is.isPrimary ? [name] : []));
  return Object.fromEntries([
    ['PRIMARY', primary.join()],
    ...Object.entries(unique).map(([name, parts]) => [name, parts.join()] as const),
  ]);
}
