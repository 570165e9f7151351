// HTTP to payment companies: https and public addresses only, limited in time and size, without redirects.
// PAYMENT_LOCAL_GATEWAYS_ALLOWED lifts the first two outside production.
import { lookup, type LookupAddress } from 'node:dns';
import { request as sendPlainly, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as sendOverTls } from 'node:https';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { config } from '../../../config/index.js';
import { parseIp } from '../values/ip.js';
import { unreadable } from './answer-reasons.js';
import { ChannelFailure, NotTaken } from './channel.js';

interface GatewayRequest {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
}

export interface GatewayAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

const connectMs = 3000;
const maxAnswer = 256 * 1024;
// Azure's metadata service has a public-looking address.
const metadataAddress = '168.63.129.16';
// IANA assigns IPv6 addresses of the internet from 2000::/3 only; `::127.0.0.1` counts as unicast, too.
const globalUnicast = ipaddr.IPv6.parse('2000::');
const localName = /(^|\.)(localhost|local|internal|localdomain)\.?$/i;

const reasons = {
  late: { zh: '渠道未在时限内应答', en: 'the channel did not answer in time' },
  unreachable: { zh: '无法连接渠道', en: 'the channel cannot be reached' },
  local: { zh: '渠道地址不是公网地址', en: 'the address of the channel is not public' },
  large: { zh: '渠道应答过大', en: 'the answer of the channel is too large' },
};

/** The address is not public, so no request was sent. */
export class NotPublic extends NotTaken {
  constructor() {
    super(reasons.local);
  }
}

/** Whether a gateway URL is acceptable, as far as it can be checked without DNS. */
export function isGatewayUrl(text: string): boolean {
  if (/[\p{C}\p{Z}]/u.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.username || url.password || !/^https?:$/.test(url.protocol)) return false;
  if (config.payments.localGatewaysAllowed) return true;
  return mayBeAsked(url) && (isAddress(url) || (url.hostname.includes('.') && !localName.test(url.hostname)));
}

/**
 * Sends a request and reads the whole answer, whatever its status, for 10 s at most; connecting alone may take 3 s.
 *
 * @param signal ends it earlier
 * @throws ChannelFailure
 */
export async function requestGateway(
  url: URL,
  request: GatewayRequest,
  signal: AbortSignal,
): Promise<GatewayAnswer> {
  if (!mayBeAsked(url)) throw new NotPublic();
  // Not AbortSignal.any(): in Node 20 a timeout in it may be collected as garbage, and then never comes.
  const limit = new AbortController();
  const end = (): void => limit.abort();
  const timer = setTimeout(end, config.payments.gatewayTimeoutMs);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  try {
    const response = await send(url, request, limit.signal);
    return { status: response.statusCode ?? 0, headers: response.headers, body: await bodyOf(response) };
  } catch (error) {
    if (error instanceof ChannelFailure) throw error;
    if (limit.signal.aborted) throw new ChannelFailure(reasons.late, error);
    const { code } = error as NodeJS.ErrnoException;
    const { zh, en } = reasons.unreachable;
    const by = code ? ` (${code})` : '';
    throw new ChannelFailure({ zh: zh + by, en: en + by }, error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}

function send(
  url: URL,
  { method, headers, body }: GatewayRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const isTls = url.protocol === 'https:';
  return new Promise((resolve, reject) => {
    const request = (isTls ? sendOverTls : sendPlainly)(
      url,
      // A new connection each time: a kept one may be closing, and placing is rare.
      { method, headers, signal, agent: false, lookup: publicLookup },
      resolve,
    );
    const connecting = setTimeout(() => request.destroy(new ChannelFailure(reasons.unreachable)), connectMs);
    request.once('socket', (socket) =>
      socket.once(isTls ? 'secureConnect' : 'connect', () => clearTimeout(connecting)),
    );
    request.once('close', () => {
      clearTimeout(connecting);
      // Neither an answer nor an error comes from a peer that switches to another protocol.
      reject(new ChannelFailure(unreadable));
    });
    request.on('error', reject);
    request.end(body);
  });
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxAnswer) throw new ChannelFailure(reasons.large);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

// The checked address is the one connected to, so DNS cannot change it in between.
const publicLookup: LookupFunction = (hostname, options, done) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return done(error, []);
    const isPublic = ({ address }: LookupAddress): boolean => isPublicAddress(address);
    if (!config.payments.localGatewaysAllowed && !addresses.every(isPublic)) {
      return done(new NotPublic(), []);
    }
    const [first] = addresses;
    return options.all ? done(null, addresses) : done(null, first?.address ?? '', first?.family);
  });
};

// Names are checked when they are resolved.
function mayBeAsked(url: URL): boolean {
  if (config.payments.localGatewaysAllowed) return true;
  return url.protocol === 'https:' && (!isAddress(url) || isPublicAddress(bareHost(url)));
}

const bareHost = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

const isAddress = (url: URL): boolean => parseIp(bareHost(url)) !== undefined;

function isPublicAddress(text: string): boolean {
  const ip = parseIp(text);
  if (ip?.range() !== 'unicast' || ip.toString() === metadataAddress) return false;
  return ip.kind() === 'ipv4' || ip.match(globalUnicast, 3);
}
