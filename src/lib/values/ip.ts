// Client addresses in canonical form, where X-Forwarded-For is used only behind trusted proxies; and sets of addresses: single,
// CIDR block, or first-last, IPv4 and IPv6, compared as 128-bit numbers.
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import { config } from '../../../config/index.js';
import { logger, throttled } from '../watch/logger.js';

type Block = [ipaddr.IPv4 | ipaddr.IPv6, number];

const trusted: Block[] = config.app.trustedProxies.map((text) => trustedBlock(text));

/**
 * The canonical form: `::ffff:1.2.3.4` is `1.2.3.4`, IPv6 is compressed and lower case; undefined when invalid.
 */
export const canonicalIp = (text: string): string | undefined => parseIp(text)?.toString();

/** What to search for in canonical addresses: a whole address in this form, a part of one in lower case. */
export const canonicalPart = (text: string | undefined): string | undefined =>
  text && (canonicalIp(text.trim()) ?? text.trim().toLowerCase());

/**
 * The client address: the peer, or behind a trusted proxy the nearest untrusted address of X-Forwarded-For, at
 * most five entries back. Forged entries further left are ignored.
 */
export function clientIp(request: IncomingMessage): string {
  const peer = canonicalIp(request.socket.remoteAddress ?? '') ?? '';
  if (trusted.length === 0) {
    if (config.app.production && request.headers['x-forwarded-for'] !== undefined) warnOfProxy();
    return peer;
  }
  if (!isTrusted(peer)) return peer;
  const forwarded = String(request.headers['x-forwarded-for'] ?? '').split(',');
  let nearest = peer;
  for (const entry of forwarded.reverse().slice(0, config.app.trustedProxyHops)) {
    const ip = canonicalIp(withoutPort(entry.trim()));
    if (!ip) return nearest;
    nearest = ip;
    if (!isTrusted(ip)) return ip;
  }
  return nearest;
}

// Azure's gateway writes 1.2.3.4:50123 and [2001:db8::1]:50123.
const withoutPort = (entry: string): string =>
  entry.replace(/^(\d+(?:\.\d+){3}):\d+$|^\[([^\]]*)\](?::\d+)?$/, '$1$2');

// Behind an unnamed proxy all clients share its address and its limits.
function warnOfProxy(): void {
  throttled('untrusted proxy', (count) =>
    logger.warn({ count }, 'X-Forwarded-For is not believed: TRUSTED_PROXIES names no proxy'),
  );
}

/** The key a client is counted by: its address, or the /64 of an IPv6 address, which belongs to one client. */
export function networkOf(text: string): string {
  if (!text.includes(':')) return text;
  const ip = parseIp(text);
  if (ip === undefined || ip.kind() === 'ipv4') return text;
  const [one, two, three, four] = (ip as ipaddr.IPv6).parts.map((part) => part.toString(16));
  return `${one}:${two}:${three}:${four}::/64`;
}

function isTrusted(text: string): boolean {
  const ip = parseIp(text);
  return (
    ip !== undefined && trusted.some(([base, bits]) => ip.kind() === base.kind() && ip.match(base, bits))
  );
}

function trustedBlock(text: string): Block {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const ip = parseIp(text);
  if (!ip) throw new Error(`TRUSTED_PROXIES: "${text}" is not an address`);
  return [ip, ip.kind() === 'ipv4' ? 32 : 128];
}

/**
 * The parsed address, with IPv4-mapped IPv6 as IPv4. Only four decimal parts make an IPv4 address: octal,
 * hexadecimal and short forms are refused.
 */
export function parseIp(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const bare = text.replace(/%.*$/, '');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1] ?? bare;
  if (ipaddr.IPv4.isValidFourPartDecimal(mapped)) return ipaddr.IPv4.parse(mapped);
  if (!ipaddr.IPv6.isValid(mapped)) return undefined;
  const ip = ipaddr.IPv6.parse(mapped);
  return ip.isIPv4MappedAddress() ? ip.toIPv4Address() : ip;
}

export interface IpRange {
  /** Canonical form: the address, the block with its network address, or first-last. */
  text: string;
  first: bigint;
  last: bigint;
}

const mappedPrefix = 0xffff00000000n;

/**
 * Parses an entry. Octal, hexadecimal and short forms of IPv4 are refused, as are ranges that mix families or
 * run backwards, ranges with an invalid end, and blocks without a length.
 */
export function parseRange(input: string): IpRange | undefined {
  const text = input.trim();
  if (text.includes('%')) return undefined;
  if (text.includes('/')) return parseBlock(text);
  const ends = text.split('-').map((end) => parseIp(end.trim()));
  const [first, last] = [ends[0], ends.at(-1)];
  if (!first || !last || ends.length > 2 || first.kind() !== last.kind()) return undefined;
  const range = { first: toNumber(first), last: toNumber(last) };
  if (range.first > range.last) return undefined;
  const isSingle = range.first === range.last;
  return { text: isSingle ? first.toString() : `${first.toString()}-${last.toString()}`, ...range };
}

/** An address as 128-bit number, IPv4 mapped into ::ffff:0:0/96; undefined when invalid. */
export function ipNumber(text: string): bigint | undefined {
  const ip = parseIp(text);
  return ip && toNumber(ip);
}

/** The 16 bytes of such a number. */
export function ipBytes(number: bigint): Buffer {
  return Buffer.from(number.toString(16).padStart(32, '0'), 'hex');
}

/** The two ends of a range. */
export type Ends = Pick<IpRange, 'first' | 'last'>;

/** Whether one of the ranges has the address: 0.1 ms for 10,000. */
export const isWithin = (ip: bigint, ranges: readonly Ends[]): boolean =>
  ranges.some(({ first, last }) => first <= ip && ip <= last);

function parseBlock(text: string): IpRange | undefined {
  const [address = '', length = '', ...rest] = text.split('/');
  const ip = parseIp(address.trim());
  if (!ip || rest.length > 0 || !/^(0|[1-9]\d{0,2})$/.test(length)) return undefined;
  // An IPv4 address in IPv6 form is ambiguous: its length could count 32 bits or 128.
  if (ip.kind() === 'ipv4' && address.includes(':')) return undefined;
  const width = ip.kind() === 'ipv4' ? 32 : 128;
  const bits = Number(length);
  if (bits > width) return undefined;
  const size = 1n << BigInt(width - bits);
  const number = toNumber(ip);
  const first = number - (number % size);
  const network =
    ip.kind() === 'ipv4'
      ? ipaddr.IPv4.networkAddressFromCIDR(`${ip.toString()}/${bits}`)
      : ipaddr.IPv6.networkAddressFromCIDR(`${ip.toString()}/${bits}`);
  const canonical = bits === width ? network.toString() : `${network.toString()}/${bits}`;
  return { text: canonical, first, last: first + size - 1n };
}

function toNumber(ip: ipaddr.IPv4 | ipaddr.IPv6): bigint {
  const number = BigInt(`0x${Buffer.from(ip.toByteArray()).toString('hex')}`);
  return ip.kind() === 'ipv4' ? mappedPrefix + number : number;
}
