// Client addresses in canonical form; X-Forwarded-For is used only behind trusted proxies.
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import { config } from '../../../config/index.js';
import { logger, throttled } from '../watch/logger.js';

type Block = [ipaddr.IPv4 | ipaddr.IPv6, number];

const trusted: Block[] = config.app.trustedProxies.map((text) => parseBlock(text));

/** The canonical form: `::ffff:1.2.3.4` is `1.2.3.4`, IPv6 is compressed and lower case; undefined when invalid. */
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

function parseBlock(text: string): Block {
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
