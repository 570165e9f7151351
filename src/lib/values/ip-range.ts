// Sets of addresses: single, CIDR block, or first-last, IPv4 and IPv6, compared as 128-bit numbers.
import ipaddr from 'ipaddr.js';
import { parseIp } from './ip.js';

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
