// blacklists: addresses that are turned away before anything else is looked at.
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { change, db, refuseDuplicates, select } from '../lib/db.js';
import { fail } from '../lib/errors.js';
import { ipBytes, ipNumber, IpSet, parseRange, type IpRange } from '../lib/ip-range.js';
import { pageSql, toPage, Where, type ListQuery, type Page } from '../lib/list-query.js';
import { bump, ensureVersion, isPending, renewOnReconnect } from '../lib/versions.js';

export interface BlacklistFields {
  ip: string;
  remark?: string | null;
  status?: number;
}

export interface BlacklistFilter extends ListQuery {
  ip?: string;
  status?: number;
}

export const blacklistSortable = ['id', 'ip', 'status', 'created_at', 'updated_at'] as const;

export interface BlacklistRecord {
  id: number;
  ip: string;
  remark: string | null;
  status: number;
  created_at: Date;
  updated_at: Date;
}

/** Name of the version mark; every guarded request reads it. */
export const blacklistScope = 'blacklist';

const columns = 'b.id, b.ip, b.remark, b.status, b.created_at, b.updated_at';
const duplicates = { uq_blacklists_range: { slug: 'blacklist_exists', field: 'ip' } } as const;

renewOnReconnect([blacklistScope]);

@Table({ tableName: 'blacklists' })
export class Blacklist extends Model {
  @Column({ type: DataType.BIGINT, primaryKey: true, autoIncrement: true }) declare id: number;
  @Column(DataType.STRING(100)) declare ip: string;
  @Column(DataType.BLOB) declare first_ip: Buffer;
  @Column(DataType.BLOB) declare last_ip: Buffer;
  @Column(DataType.STRING(255)) declare remark: string | null;
  @Column(DataType.TINYINT) declare status: number;
  @Column(DataType.DATE(3)) declare created_at: Date;
  @Column(DataType.DATE(3)) declare updated_at: Date;

  static async list(query: BlacklistFilter): Promise<Page<BlacklistRecord>> {
    const where = new Where()
      .containsAscii('b.ip', query.ip)
      .equals('b.status', query.status)
      .during('b.created_at', query);
    const [rows, [count]] = await Promise.all([
      select<BlacklistRecord>(
        `SELECT ${columns} FROM blacklists b ${where.sql} ${pageSql(query, 'b')}`,
        where.values,
      ),
      select<{ total: number }>(`SELECT COUNT(*) AS total FROM blacklists b ${where.sql}`, where.values),
    ]);
    return toPage(query, rows, count?.total ?? 0);
  }

  /** @throws blacklist_not_found */
  static async record(id: number): Promise<BlacklistRecord> {
    const [row] = await select<BlacklistRecord>(`SELECT ${columns} FROM blacklists b WHERE b.id = ?`, [id]);
    return row ?? fail('blacklist_not_found');
  }

  /** Adds an entry in canonical form. @param callerIp may not be covered by it */
  static async register(fields: BlacklistFields, callerIp: string): Promise<number> {
    const range = readRange(fields.ip, callerIp);
    const entry = await refuseDuplicates(
      Blacklist.create({ status: 1, ...fields, ...rangeColumns(range) }),
      duplicates,
    );
    await bump(blacklistScope);
    return entry.id;
  }

  static async revise(id: number, fields: Partial<BlacklistFields>, callerIp: string): Promise<void> {
    const entry = (await Blacklist.findByPk(id)) ?? fail('blacklist_not_found');
    const range = readRange(fields.ip ?? entry.ip, callerIp);
    await refuseDuplicates(entry.update({ ...fields, ...rangeColumns(range) }), duplicates);
    await bump(blacklistScope);
  }

  /** Deletes entries. @returns how many there were */
  static async remove(ids: readonly number[]): Promise<number> {
    const removed = await change('DELETE FROM blacklists WHERE id IN (?)', [ids]);
    await bump(blacklistScope);
    return removed;
  }
}

db.addModels([Blacklist]);

let set = new IpSet([]);
let setMark: string | undefined;
let setFingerprint: string | undefined;
let loading: Promise<void> | undefined;

/**
 * Whether an address is turned away, as of now on every process.
 *
 * @param mark version mark as read at the start of the request; undefined when Redis is away
 */
export async function isBlocked(ip: string, mark: string | undefined): Promise<boolean> {
  if (mark === undefined || mark !== setMark || isPending(blacklistScope)) await refresh(mark);
  const number = ipNumber(ip);
  return number !== undefined && set.has(number);
}

async function refresh(mark: string | undefined): Promise<void> {
  const current = mark ?? (await ensureVersion(blacklistScope));
  if (current === undefined || isPending(blacklistScope)) return refreshFromDatabase();
  while (setMark !== current) {
    loading ??= load(current).finally(() => (loading = undefined));
    await loading;
  }
}

async function load(mark: string): Promise<void> {
  set = await readSet();
  setMark = mark;
  setFingerprint = undefined;
}

// Without Redis nobody tells of changes, so the table is asked, cheaply while it stays as it was.
async function refreshFromDatabase(): Promise<void> {
  const [row] = await select<Record<string, unknown>>(
    'SELECT COUNT(*) AS entries, MAX(updated_at) AS changed_at, SUM(id) AS ids, SUM(status) AS active FROM blacklists',
  );
  const fingerprint = JSON.stringify(row);
  if (fingerprint === setFingerprint) return;
  set = await readSet();
  setMark = undefined;
  setFingerprint = fingerprint;
}

async function readSet(): Promise<IpSet> {
  const rows = await select<{ first_ip: Buffer; last_ip: Buffer }>(
    'SELECT first_ip, last_ip FROM blacklists WHERE status = 1',
  );
  const number = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex')}`);
  return new IpSet(rows.map(({ first_ip, last_ip }) => ({ first: number(first_ip), last: number(last_ip) })));
}

function readRange(ip: string, callerIp: string): IpRange {
  const range = parseRange(ip) ?? fail('blacklist_ip_invalid', { field: 'ip' });
  const caller = ipNumber(callerIp);
  const coversCaller = caller !== undefined && range.first <= caller && caller <= range.last;
  if (coversCaller) fail('blacklist_covers_self', { field: 'ip' });
  return range;
}

function rangeColumns({ text, first, last }: IpRange): { ip: string; first_ip: Buffer; last_ip: Buffer } {
  return { ip: text, first_ip: ipBytes(first), last_ip: ipBytes(last) };
}
