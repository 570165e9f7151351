// RSA keys and self-signed certificates.
import { readFileSync } from 'node:fs';
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  type KeyObject,
} from 'node:crypto';

export interface RsaKeys {
  privateKey: KeyObject;
  publicKey: KeyObject;
  /** PKCS#8 in PEM. */
  privatePem: string;
  /** SubjectPublicKeyInfo in PEM. */
  publicPem: string;
}

// Generating a pair takes a sixth of a second, so these are ready ones of 2048 bits, which protect nothing.
const ready = readFileSync('test/support/companies/rsa-keys.txt', 'utf8').trim().split('\n');

/** A pair that is used once in this process. */
export function newRsaKeys(modulusLength = 2048): RsaKeys {
  const der = modulusLength === 2048 ? ready.pop() : undefined;
  const privateKey =
    der === undefined
      ? generateKeyPairSync('rsa', { modulusLength }).privateKey
      : createPrivateKey({ key: Buffer.from(der, 'base64'), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey);
  return {
    privateKey,
    publicKey,
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }) as string,
  };
}

export interface Certificate {
  pem: string;
  /** Upper-case hex, as X509Certificate.serialNumber. */
  serial: string;
}

/** A self-signed X.509 certificate (RFC 5280) under that name that ends then. @param address an IPv4 address it is good for as well */
export function newCertificate(
  { privateKey, publicKey }: RsaKeys,
  until = new Date(Date.now() + 365 * 86_400_000),
  commonName = 'test platform',
  address?: string,
): Certificate {
  const serial = Buffer.concat([Buffer.from([0x51]), randomBytes(19)]);
  const algorithm = node(0x30, node(0x06, bytes('2a864886f70d01010b')), node(0x05));
  const name = node(
    0x30,
    node(0x31, node(0x30, node(0x06, bytes('550403')), node(0x0c, Buffer.from(commonName)))),
  );
  const validity = node(0x30, utcTime(new Date(until.getTime() - 5 * 365 * 86_400_000)), utcTime(until));
  const key = publicKey.export({ type: 'spki', format: 'der' });
  const version3 = node(0xa0, node(0x02, Buffer.from([2])));
  const parts = [version3, node(0x02, serial), algorithm, name, validity, name, key];
  const content = node(0x30, ...parts, ...(address === undefined ? [] : [alternatives(commonName, address)]));
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', content, privateKey)]);
  const der = node(0x30, content, algorithm, node(0x03, signature));
  const pem = `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`;
  return { pem, serial: serial.toString('hex').toUpperCase() };
}

// The extension that names what else it is good for; with it the name above no longer counts by itself.
function alternatives(name: string, address: string): Buffer {
  const names = node(
    0x30,
    node(0x82, Buffer.from(name)),
    node(0x87, Buffer.from(address.split('.').map(Number))),
  );
  return node(0xa3, node(0x30, node(0x30, node(0x06, bytes('551d11')), node(0x04, names))));
}

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');

const utcTime = (at: Date): Buffer =>
  node(0x17, Buffer.from(`${at.toISOString().replace(/\D/g, '').slice(2, 14)}Z`));

// One DER element: tag, length, content.
function node(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const short = content.length < 128;
  const length = bytes(
    short
      ? content.length.toString(16).padStart(2, '0')
      : content.length.toString(16).padStart(content.length < 256 ? 2 : 4, '0'),
  );
  const head = short ? length : Buffer.concat([Buffer.from([0x80 | length.length]), length]);
  return Buffer.concat([Buffer.from([tag]), head, content]);
}
