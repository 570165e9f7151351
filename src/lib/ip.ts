// Client addresses in canonical form, believed only as far as the trusted proxies go.
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import { config } from '../../config/index.js';
import { logger } from './logger.js';
import { throttled } from './log-throttle.js';
import { memoized } from './memoize.js';

type Block = [ipaddr.IPv4 | ipaddr.IPv6, number];

const trusted: Block[] = config.app.trustedProxies.map((text) => parseBlock(text));

/** One form per address: `::ffff:1.2.3.4` is `1.2.3.4`, IPv6 is compressed and lower case; undefined when it is none. */
export const canonicalIp = memoized((text) => parseIp(text)?.toString());

/**
 * The address of the client: the peer's, or, when the peer is a trusted proxy, the nearest address of X-Forwarded-For
 * that is not one, looking back at most TRUSTED_PROXY_HOPS entries. Forged entries further left change nothing.
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
    const ip = canonicalIp(entry.trim());
    if (!ip) return nearest;
    nearest = ip;
    if (!isTrusted(ip)) return ip;
  }
  return nearest;
}

// Behind a proxy that is not named all clients share its address, and its limits.
function warnOfProxy(): void {
  throttled('untrusted proxy', (count) =>
    logger.warn({ count }, 'X-Forwarded-For is not believed: TRUSTED_PROXIES names no proxy'),
  );
}

/** Whether a peer is one of TRUSTED_PROXIES. */
export const isTrustedProxy = (address: string): boolean => trusted.length > 0 && isTrusted(address);

/** What one client is counted by: the address, of IPv6 its /64, which one client has as a whole. */
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

function parseBlock(text: string): Block {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const ip = parseIp(text);
  if (!ip) throw new Error(`TRUSTED_PROXIES: "${text}" is not an address`);
  return [ip, ip.kind() === 'ipv4' ? 32 : 128];
}

/**
 * The parsed address, IPv4 inside IPv6 as IPv4. Only four decimal parts make an IPv4 address: octal, hexadecimal and
 * short forms are refused.
 */
export function parseIp(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const bare = text.replace(/%.*$/, '');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1] ?? bare;
  if (ipaddr.IPv4.isValidFourPartDecimal(mapped)) return ipaddr.IPv4.parse(mapped);
  if (!ipaddr.IPv6.isValid(mapped)) return undefined;
  const ip = ipaddr.IPv6.parse(mapped);
  return ip.isIPv4MappedAddress() ? ip.toIPv4Address() : ip;
}
