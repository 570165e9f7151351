// The keys that WeChat Pay signs with: a public key that the merchant enters, or certificates that this
// service downloads.
import { X509Certificate, type KeyObject } from 'node:crypto';
import { config as settings } from '../../../config/index.js';
import { now } from '../values/clock.js';
import { readPublicKey } from '../secrets/rsa.js';
import { forged, unreadable } from './answer-reasons.js';
import { ChannelFailure, type MethodConfig } from './channel.js';
import { assertOk, gatewayOf, isSigned, readJson, requestWechat } from './wechat-request.js';
import { openSealed, type Sealed } from './wechat-seal.js';

// New certificates are announced a day ahead; the company asks for a lookup every twelve hours.
const certificatesLastMs = 12 * 3_600_000;
const certificatesRestMs = 60_000;
/** Public keys of the platform have ids that begin so; certificates have serial numbers in hex. */
const publicKeyId = 'PUB_KEY_ID_';

interface Certificate {
  key: KeyObject;
  until: Date;
}

/** By their serial numbers. */
type Certificates = Map<string, Certificate>;

/** The latest of each account. */
const certificates = new Map<string, { known: Certificates; at: number }>();

/** The key of an answer. @throws ChannelFailure while the certificates cannot be downloaded */
export async function answerKey(
  config: MethodConfig,
  serial: string,
  signal: AbortSignal,
): Promise<KeyObject | undefined> {
  const { platform_public_key, platform_public_key_id } = config;
  if (platform_public_key && serial === platform_public_key_id) return readPublicKey(platform_public_key);
  return certificateKey(config, serial, signal, () => renewCertificates(config, signal));
}

const ownerOf = (config: MethodConfig): string => `${gatewayOf(config)} ${config.mch_id}`;

/** @param download the certificates, when that one is not known */
async function certificateKey(
  config: MethodConfig,
  serial: string,
  signal: AbortSignal,
  download: () => Promise<Certificates>,
): Promise<KeyObject | undefined> {
  const latest = certificates.get(ownerOf(config));
  const age = latest ? timeSince(latest.at) : Infinity;
  const certificate = latest?.known.get(serial);
  if (age < certificatesRestMs || (certificate && age < certificatesLastMs)) return certificate?.key;
  if (!certificate || certificate.until <= now()) return (await download()).get(serial)?.key;
  try {
    return (await sharedCertificates(config, signal)).get(serial)?.key;
  } catch (error) {
    if (!(error instanceof ChannelFailure)) throw error;
    // The known certificate is good until it expires; the next message renews it, from a minute later on.
    return certificate.key;
  }
}

// A download dated in the future, because the clock was set back since, counts as old: downloads fail while the clock is
// wrong.
const timeSince = (at: number): number => Math.abs(now().getTime() - at);

async function renewCertificates(config: MethodConfig, signal: AbortSignal): Promise<Certificates> {
  const known = await downloadCertificates(config, signal);
  certificates.set(ownerOf(config), { known, at: now().getTime() });
  return known;
}

interface Download {
  at: number;
  keys: Promise<Certificates>;
}

const downloads = new Map<string, Download>();

/**
 * The key of a notice. Anybody who has seen one can repeat it under any serial number: the certificates are shared.
 *
 * @throws ChannelFailure while the certificates cannot be downloaded
 */
export async function noticeKey(
  config: MethodConfig,
  serial: string,
  signal: AbortSignal,
): Promise<KeyObject | undefined> {
  const { platform_public_key = '', platform_public_key_id } = config;
  if (serial === platform_public_key_id) return readPublicKey(platform_public_key);
  if (serial === '' || serial.startsWith(publicKeyId)) return undefined;
  return certificateKey(config, serial, signal, () => sharedCertificates(config, signal));
}

/** An account is asked once a minute, and all wait for that answer. @throws ChannelFailure */
function sharedCertificates(config: MethodConfig, signal: AbortSignal): Promise<Certificates> {
  const owner = ownerOf(config);
  let download = downloads.get(owner);
  if (!download || timeSince(download.at) >= certificatesRestMs) {
    // It outlasts the callback that began it: the next one finds the key.
    const keys = renewCertificates(config, AbortSignal.timeout(settings.payments.gatewayTimeoutMs));
    download = { at: now().getTime(), keys };
    downloads.set(owner, download);
  }
  return unlessAborted(download.keys, signal);
}

const lateCertificates = {
  zh: '平台证书未能及时取得',
  en: 'the platform certificates could not be downloaded in time',
};

function unlessAborted<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(new ChannelFailure(lateCertificates));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  return Promise.race([result, aborted]);
}

// The list is signed with one of the certificates in it. Sealing with the merchant's API v3 key proves the
// certificates; the signature proves that the list is complete and current.
async function downloadCertificates(config: MethodConfig, signal: AbortSignal): Promise<Certificates> {
  const answer = await requestWechat(config, 'GET', '/v3/certificates', '', signal);
  assertOk(answer);
  const { data } = readJson(answer.body);
  if (!Array.isArray(data)) throw new ChannelFailure(unreadable);
  const keys = new Map(data.flatMap((item) => readCertificate(item as SealedCertificate, config)));
  const signer = keys.get(String(answer.headers['wechatpay-serial']));
  if (!signer || !isSigned(answer, signer.key, now())) throw new ChannelFailure(forged);
  return keys;
}

interface SealedCertificate {
  serial_no?: string;
  encrypt_certificate?: Partial<Sealed>;
}

function readCertificate(sealed: SealedCertificate, config: MethodConfig): [string, Certificate][] {
  const { ciphertext = '', nonce = '', associated_data = '' } = sealed.encrypt_certificate ?? {};
  try {
    const opened = openSealed({ ciphertext, nonce, associated_data }, config.api_v3_key ?? '');
    const certificate = new X509Certificate(opened);
    const until = new Date(certificate.validTo);
    const isValid = until > now() && sealed.serial_no !== undefined;
    return isValid ? [[sealed.serial_no as string, { key: certificate.publicKey, until }]] : [];
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
