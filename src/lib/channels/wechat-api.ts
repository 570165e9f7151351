// WeChat Pay API v3: signed requests and verified answers (pay.weixin.qq.com/doc/v3/merchant/4012081606).
import { createDecipheriv, X509Certificate, type KeyObject } from 'node:crypto';
import { config as settings } from '../../../config/index.js';
import { now } from '../clock.js';
import { randomToken } from '../secrets/random-id.js';
import { readPublicKey, signRsa, verifyRsa } from '../secrets/rsa.js';
import { ChannelFailure, type MethodConfig, type RawCallback } from './channel.js';
import { requestGateway, type GatewayAnswer } from './gateway.js';

const defaultGateway = 'https://api.mch.weixin.qq.com';
const clockDifferenceMs = 5 * 60_000;
// New certificates are announced a day ahead; the company asks for a lookup every twelve hours.
const certificatesLastMs = 12 * 3_600_000;
const certificatesRestMs = 60_000;
/** Public keys of the platform have ids that begin so; certificates have serial numbers in hex. */
const publicKeyId = 'PUB_KEY_ID_';

const reasons = {
  late: {
    zh: '平台证书未能及时取得',
    en: 'the platform certificates could not be downloaded in time',
  },
  forged: { zh: '渠道应答的签名无效', en: 'the answer of the channel carries no valid signature' },
  unreadable: { zh: '渠道应答无法识别', en: 'the answer of the channel cannot be read' },
};

/**
 * Sends a request and returns the verified answer.
 *
 * @throws ChannelFailure
 */
export async function callWechat(
  config: MethodConfig,
  path: string,
  content: object,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const answer = await ask(config, 'POST', path, JSON.stringify(content), signal);
  if (answer.status !== 200) throw refusal(answer);
  const key = await platformKey(config, String(answer.headers['wechatpay-serial']), signal);
  if (!key || !isSigned(answer, key, now())) throw new ChannelFailure(reasons.forged);
  return readJson(answer.body);
}

async function ask(
  config: MethodConfig,
  method: 'GET' | 'POST',
  path: string,
  body: string,
  signal: AbortSignal,
): Promise<GatewayAnswer> {
  const headers = {
    Accept: 'application/json',
    'User-Agent': `back-office/${settings.version}`,
    Authorization: authorization(config, method, path, body),
    ...(config.platform_public_key_id ? { 'Wechatpay-Serial': config.platform_public_key_id } : {}),
    ...(body
      ? { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) }
      : {}),
  };
  return requestGateway(new URL(path, config.gateway ?? defaultGateway), { method, headers, body }, signal);
}

function authorization(config: MethodConfig, method: string, path: string, body: string): string {
  const { mch_id = '', cert_serial_no = '', private_key = '' } = config;
  const timestamp = String(Math.floor(now().getTime() / 1000));
  const nonce = randomToken(16);
  const signature = signRsa(lines(method, path, timestamp, nonce, body), private_key);
  const parts = { mchid: mch_id, nonce_str: nonce, signature, timestamp, serial_no: cert_serial_no };
  const list = Object.entries(parts).map(([name, value]) => `${name}="${value}"`);
  return `WECHATPAY2-SHA256-RSA2048 ${list.join(',')}`;
}

/** The signed text: each part ends with a line feed. */
export const lines = (...parts: string[]): string => parts.map((part) => `${part}\n`).join('');

type Signed = Pick<GatewayAnswer, 'headers' | 'body'>;

/** @param at what its timestamp is compared with, ± 5 minutes */
function isSigned({ headers, body }: Signed, key: KeyObject, at: Date): boolean {
  const { 'wechatpay-timestamp': timestamp, 'wechatpay-nonce': nonce } = headers;
  const signature = headers['wechatpay-signature'];
  if (typeof timestamp !== 'string' || typeof nonce !== 'string' || typeof signature !== 'string')
    return false;
  const difference = Math.abs(Number(timestamp) * 1000 - at.getTime());
  return difference <= clockDifferenceMs && verifyRsa(lines(timestamp, nonce, body), signature, key);
}

interface Certificates {
  keys: Map<string, KeyObject>;
  at: number;
}

const certificates = new Map<string, Certificates>();

// Newer merchants configure a public key of the platform; older ones download its certificates.
async function platformKey(
  config: MethodConfig,
  serial: string,
  signal: AbortSignal,
): Promise<KeyObject | undefined> {
  const { platform_public_key, platform_public_key_id } = config;
  if (platform_public_key && serial === platform_public_key_id) return readPublicKey(platform_public_key);
  const known = freshCertificates(config, serial) ?? (await renewCertificates(config, signal));
  return known.get(serial);
}

const ownerOf = (config: MethodConfig): string => `${config.gateway ?? defaultGateway} ${config.mch_id}`;

/** Undefined when they must be downloaded to know that serial number. */
function freshCertificates(config: MethodConfig, serial: string): Certificates['keys'] | undefined {
  const known = certificates.get(ownerOf(config));
  const age = known ? now().getTime() - known.at : Infinity;
  const isFresh = age < certificatesLastMs && (known?.keys.has(serial) || age < certificatesRestMs);
  return isFresh ? known?.keys : undefined;
}

async function renewCertificates(config: MethodConfig, signal: AbortSignal): Promise<Certificates['keys']> {
  const keys = await downloadCertificates(config, signal);
  certificates.set(ownerOf(config), { keys, at: now().getTime() });
  return keys;
}

/**
 * Whether WeChat signed the callback: `timestamp\nnonce\nbody\n`
 * (pay.weixin.qq.com/docs/merchant/development/interface-rules/signature-verification.html). Only for what was sealed
 * under the method's key: a serial number that nobody knows makes this service ask for the certificates.
 *
 * @throws ChannelFailure while they cannot be had
 */
export async function isSignedNotice(
  { raw, headers, receivedAt }: RawCallback,
  config: MethodConfig,
  signal: AbortSignal,
): Promise<boolean> {
  const key = await noticeKey(config, headers['wechatpay-serial'] ?? '', signal);
  return key !== undefined && isSigned({ headers, body: raw }, key, receivedAt);
}

interface Download {
  at: number;
  keys: Promise<Certificates['keys']>;
}

const downloads = new Map<string, Download>();

// Anybody who has seen a notice can repeat it under any serial number: an account is asked once a minute, and all wait
// for that answer.
async function noticeKey(
  config: MethodConfig,
  serial: string,
  signal: AbortSignal,
): Promise<KeyObject | undefined> {
  const { platform_public_key = '', platform_public_key_id } = config;
  if (serial === platform_public_key_id) return readPublicKey(platform_public_key);
  if (serial === '' || serial.startsWith(publicKeyId)) return undefined;
  const known = freshCertificates(config, serial);
  if (known) return known.get(serial);
  const owner = ownerOf(config);
  let download = downloads.get(owner);
  if (!download || now().getTime() - download.at >= certificatesRestMs) {
    // It outlasts the callback that began it: the next one finds the key.
    const keys = renewCertificates(config, AbortSignal.timeout(settings.payments.gatewayTimeoutMs));
    download = { at: now().getTime(), keys };
    downloads.set(owner, download);
  }
  return (await unlessAborted(download.keys, signal)).get(serial);
}

function unlessAborted<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(new ChannelFailure(reasons.late));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  return Promise.race([result, aborted]);
}

// The list is signed with one of the certificates in it. Sealing with the merchant's API v3 key proves the
// certificates; the signature proves that the list is complete and current.
async function downloadCertificates(
  config: MethodConfig,
  signal: AbortSignal,
): Promise<Map<string, KeyObject>> {
  const answer = await ask(config, 'GET', '/v3/certificates', '', signal);
  if (answer.status !== 200) throw refusal(answer);
  const { data } = readJson(answer.body);
  if (!Array.isArray(data)) throw new ChannelFailure(reasons.unreadable);
  const keys = new Map(data.flatMap((item) => readCertificate(item as SealedCertificate, config)));
  const signer = keys.get(String(answer.headers['wechatpay-serial']));
  if (!signer || !isSigned(answer, signer, now())) throw new ChannelFailure(reasons.forged);
  return keys;
}

interface SealedCertificate {
  serial_no?: string;
  encrypt_certificate?: Partial<Sealed>;
}

function readCertificate(sealed: SealedCertificate, config: MethodConfig): [string, KeyObject][] {
  const { ciphertext = '', nonce = '', associated_data = '' } = sealed.encrypt_certificate ?? {};
  try {
    const opened = openSealed({ ciphertext, nonce, associated_data }, config.api_v3_key ?? '');
    const certificate = new X509Certificate(opened);
    const isValid = new Date(certificate.validTo) > now() && sealed.serial_no !== undefined;
    return isValid ? [[sealed.serial_no as string, certificate.publicKey]] : [];
  } catch (error) {
    throw new ChannelFailure(
      {
        zh: '平台证书无法解密，请检查 api_v3_key',
        en: 'the platform certificates cannot be decrypted, check api_v3_key',
      },
      error,
    );
  }
}

/** What WeChat seals with the APIv3 key (AEAD_AES_256_GCM). */
export interface Sealed {
  /** Base64 of the sealed text and the tag behind it. */
  ciphertext: string;
  nonce: string;
  associated_data: string;
}

const tagBytes = 16;

/** Opens what WeChat has sealed. @throws Error when the key is another, the text was changed, or there is none */
export function openSealed({ ciphertext, nonce, associated_data }: Sealed, key: string): Buffer {
  const bytes = Buffer.from(ciphertext, 'base64');
  // A shorter one would leave a tag of fewer bytes, which can be guessed.
  if (bytes.length <= tagBytes) throw new Error('the sealed text is too short');
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
  decipher.setAuthTag(bytes.subarray(-tagBytes)).setAAD(Buffer.from(associated_data));
  return Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()]);
}

// {code, message}; the text is only shown to administrators.
function refusal({ status, body }: GatewayAnswer): ChannelFailure {
  const { code, message } = jsonOf(body) ?? {};
  const words = [code, message].filter((part) => typeof part === 'string' && part !== '');
  return new ChannelFailure(words.length > 0 ? words.join(': ') : `HTTP ${status}`);
}

function readJson(body: string): Record<string, unknown> {
  const content = jsonOf(body);
  if (!content) throw new ChannelFailure(reasons.unreadable);
  return content;
}

function jsonOf(body: string): Record<string, unknown> | undefined {
  try {
    const content: unknown = JSON.parse(body);
    return typeof content === 'object' && content !== null ? (content as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
