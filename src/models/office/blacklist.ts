// blacklists: addresses that are turned away before anything else is looked at.
import { refuseDuplicates } from '../../lib/database/db.js';
import { fail } from '../../lib/errors.js';
import { ipBytes, ipNumber, IpSet, parseRange, type IpRange } from '../../lib/ip-range.js';
import { Where, type ListQuery, type Page } from '../../lib/input/list-query.js';
import { withTimeout } from '../../lib/with-timeout.js';
import { deleteRows } from '../tables/rows.js';
import { over } from '../tables/sql.js';
import { VersionedCache } from '../tables/versioned-cache.js';
import { changing } from '../tables/versions.js';
import { Blacklist } from './tables.js';
import { type Fields, type Listed, listed } from '../tables/table.js';
import { columnsOf, selection } from '../tables/selection.js';

export type BlacklistFields = Fields<Blacklist, 'first_ip' | 'last_ip'>;

export type BlacklistRecord = Listed<Blacklist>;

export interface BlacklistFilter extends ListQuery {
  ip?: string;
  status?: number;
}

export const blacklistSortable = ['id', 'ip', 'status', 'created_at', 'updated_at'] as const;

const blacklists = selection(columnsOf(Blacklist, 'b'), 'blacklists b');
const duplicates = { uq_blacklists_range: { slug: 'blacklist_exists', field: 'ip' } } as const;

export async function listBlacklists(query: BlacklistFilter): Promise<Page<BlacklistRecord>> {
  const where = new Where()
    .containsAscii('b.ip', query.ip)
    .equals('b.status', query.status)
    .during('b.created_at', query);
  return blacklists.page(query, where);
}

/** @throws blacklist_not_found */
export async function getBlacklist(id: number): Promise<BlacklistRecord> {
  return listed((await Blacklist.findByPk(id)) ?? fail('blacklist_not_found'));
}

/** Adds an entry in canonical form. @param callerIp may not be covered by it */
export async function createBlacklist(fields: BlacklistFields, callerIp: string): Promise<number> {
  const range = readRange(fields.ip, callerIp);
  const columns = { ...fields, ...rangeColumns(range) };
  return refuseDuplicates(
    changing(['blacklist'], async (t) => (await Blacklist.create(columns, { transaction: t })).id),
    duplicates,
  );
}

export async function updateBlacklist(
  id: number,
  fields: Partial<BlacklistFields>,
  callerIp: string,
): Promise<void> {
  await refuseDuplicates(
    changing(['blacklist'], async (t) => {
      const entry = await Blacklist.findByPk(id, { transaction: t, lock: true });
      if (!entry) fail('blacklist_not_found');
      const range = readRange(fields.ip ?? entry.ip, callerIp);
      await entry.update({ ...fields, ...rangeColumns(range) }, { transaction: t });
    }),
    duplicates,
  );
}

/** Deletes entries. @returns how many there were */
export function deleteBlacklists(ids: readonly number[]): Promise<number> {
  return changing(['blacklist'], (t) => deleteRows(Blacklist, { id: ids }, t));
}

/** Every enabled entry. */
const ranges = new VersionedCache<'enabled', IpSet>({ scope: 'blacklist', max: 1, load: readSet });

/** Nobody waits longer for a load, also one that others have begun. */
const maxWaitMs = 500;

/**
 * Whether an address is turned away, as of now on every process.
 *
 * @param mark of the scope `blacklist` as read at the start of the request; undefined when Redis is unavailable
 */
export async function isBlocked(ip: string, mark: string | undefined): Promise<boolean> {
  const number = ipNumber(ip);
  if (number === undefined) return false;
  const current = ranges.get('enabled', mark);
  const set = await withTimeout<IpSet | undefined>(current, maxWaitMs, (resolve) => resolve(undefined));
  return set ? set.has(number) : isListed(number);
}

/** The table's own word for one address. */
async function isListed(number: bigint): Promise<boolean> {
  const address = ipBytes(number).toString('hex');
  const found = await entries.one(
    sql('WHERE b.status = 1 AND b.first_ip <= UNHEX(:address) AND b.last_ip >= UNHEX(:address) LIMIT 1', {
      address,
    }),
  );
  return found !== undefined;
}

async function readSet(): Promise<IpSet> {
  const rows = await entries.where(sql('WHERE b.status = 1', {}));
  const number = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex')}`);
  return new IpSet(rows.map(({ first_ip, last_ip }) => ({ first: number(first_ip), last: number(last_ip) })));
}

const sql = over({ 'blacklists b': Blacklist });
const entries = selection(columnsOf(Blacklist, 'b', 'first_ip', 'last_ip'), 'blacklists b');

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
