// blacklists: addresses that are refused before any other check.
import type { Transaction } from 'sequelize';
import { refuseDuplicates } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import {
  ipBytes,
  ipNumber,
  isWithin,
  parseRange,
  type Ends,
  type IpRange,
} from '../../lib/values/ip-range.js';
import { canonicalPart } from '../../lib/values/ip.js';
import { blankToNull, status, textFilter } from '../../lib/input/schema.js';
import { listQuery, type Criteria, type ListQuery, type Page } from '../../lib/input/list-query.js';
import { containingAscii, during, findPage, lockRow, matching } from '../tables/find.js';
import { changing, type Versions } from '../tables/versions.js';
import { type Fields, type Listed, listed } from '../tables/table.js';
import { Blacklist } from './tables.js';

export type BlacklistFields = Fields<Blacklist, 'first_ip' | 'last_ip'>;

type BlacklistRecord = Listed<Blacklist>;

const blacklistFilters = { ip: textFilter(100).description('Part of an entry'), status: status() };

type BlacklistFilter = Criteria<typeof blacklistFilters> & ListQuery;

/** The query of the list. */
export const blacklistQuery = listQuery<BlacklistFilter>(
  ['id', 'ip', 'status', 'created_at', 'updated_at'],
  blacklistFilters,
);

const duplicates = { uq_blacklists_range: { slug: 'blacklist_exists', field: 'ip' } } as const;

export function listBlacklists(query: BlacklistFilter): Promise<Page<BlacklistRecord>> {
  const where = matching<Blacklist>({
    ip: containingAscii(canonicalPart(query.ip)),
    status: query.status,
    created_at: during(query),
  });
  return findPage(Blacklist, query, { where }, listed);
}

/** @throws blacklist_not_found */
export async function getBlacklist(id: number, transaction?: Transaction): Promise<BlacklistRecord> {
  await lockRow(Blacklist, id, transaction);
  return listed((await Blacklist.findByPk(id, { transaction })) ?? fail('blacklist_not_found'));
}

/** Adds an entry in canonical form. @param callerIp may not be blocked by it */
export async function createBlacklist(fields: BlacklistFields, callerIp: string): Promise<number> {
  const range = readRange(fields.ip, fields.status, callerIp);
  const columns = { ...blankToNull(fields), ...rangeColumns(range) };
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
      const range = readRange(fields.ip ?? entry.ip, fields.status ?? entry.status, callerIp);
      await entry.update({ ...blankToNull(fields), ...rangeColumns(range) }, { transaction: t });
    }),
    duplicates,
  );
}

/** Deletes entries. @returns how many there were */
export function deleteBlacklists(ids: readonly number[]): Promise<number> {
  return changing(['blacklist'], (t) => Blacklist.destroy({ where: { id: ids }, transaction: t }));
}

let known: { version: number; ranges: Promise<Ends[]> } | undefined;

/**
 * Whether an address is refused, by the current list on every process.
 *
 * @param versions as read at the start of the request
 */
export async function isBlocked(ip: string, { blacklist: version }: Versions): Promise<boolean> {
  const number = ipNumber(ip);
  if (number === undefined) return false;
  if (known?.version !== version) {
    const ranges = readRanges();
    known = { version, ranges };
    ranges.catch(() => {
      if (known?.ranges === ranges) known = undefined;
    });
  }
  return isWithin(number, await known.ranges);
}

async function readRanges(): Promise<Ends[]> {
  const rows = await Blacklist.findAll({ attributes: ['first_ip', 'last_ip'], where: { status: 1 } });
  const number = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex')}`);
  return rows.map(({ first_ip, last_ip }) => ({ first: number(first_ip), last: number(last_ip) }));
}

function readRange(ip: string, status: number | undefined, callerIp: string): IpRange {
  const range = parseRange(ip) ?? fail('blacklist_ip_invalid', { field: 'ip' });
  const caller = ipNumber(callerIp);
  const coversCaller = caller !== undefined && isWithin(caller, [range]);
  if (coversCaller && status !== 0) fail('blacklist_covers_self', { field: 'ip' });
  return range;
}

function rangeColumns({ text, first, last }: IpRange): { ip: string; first_ip: Buffer; last_ip: Buffer } {
  return { ip: text, first_ip: ipBytes(first), last_ip: ipBytes(last) };
}
