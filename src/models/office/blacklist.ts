// blacklists: addresses that are turned away before anything else is looked at.
import { inLastingContext } from '../../lib/context.js';
import { change, refuseDuplicates, select } from '../../lib/db.js';
import { fail } from '../../lib/errors.js';
import { ipBytes, ipNumber, IpSet, parseRange, type IpRange } from '../../lib/ip-range.js';
import { Where, type ListQuery, type Page } from '../../lib/list-query.js';
import { withTimeout } from '../../lib/with-timeout.js';
import { changing, holds, stamp, type Stamp } from '../tables/versions.js';
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
  return changing(['blacklist'], (t) => change('DELETE FROM blacklists WHERE id IN (?)', [ids], t));
}

interface Kept {
  stamped: Stamp;
  set: IpSet;
}

let kept: Kept | undefined;
let loading: Promise<Kept> | undefined;

/** Nobody waits longer for a load that others have begun. */
const maxWaitMs = 500;

/**
 * Whether an address is turned away, as of now on every process.
 *
 * @param mark of the scope `blacklist` as read at the start of the request; undefined when Redis is unavailable
 */
export async function isBlocked(ip: string, mark: string | undefined): Promise<boolean> {
  const number = ipNumber(ip);
  if (number === undefined) return false;
  while (!(kept && (await holds('blacklist', kept.stamped, mark)))) {
    loading ??= inLastingContext(() => load(mark)).finally(() => (loading = undefined));
    const loaded = await withTimeout<Kept | undefined>(loading, maxWaitMs, (resolve) => resolve(undefined));
    if (!loaded) return isListed(number);
  }
  return kept.set.has(number);
}

async function load(mark: string | undefined): Promise<Kept> {
  const stamped = await stamp('blacklist', mark);
  kept = { stamped, set: await readSet() };
  return kept;
}

/** The table's own word for one address. */
async function isListed(number: bigint): Promise<boolean> {
  const bytes = ipBytes(number).toString('hex');
  const [found] = await select(
    `SELECT id FROM blacklists WHERE status = 1 AND first_ip <= UNHEX(?) AND last_ip >= UNHEX(?) LIMIT 1`,
    [bytes, bytes],
  );
  return found !== undefined;
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
