// Import of a test file whose servers speak TLS only: their certificate, before the configuration is read.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newCertificate, newRsaKeys } from '../companies/rsa-keys.js';

const folder = mkdtempSync(join(tmpdir(), 'certificates-'));

function writtenCertificate(name: string): { cert: string; key: string; pem: string } {
  const keys = newRsaKeys();
  const { pem } = newCertificate(keys, undefined, name, '127.0.0.1');
  const [cert, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
  writeFileSync(cert, pem);
  writeFileSync(key, keys.privatePem, { mode: 0o600 });
  return { cert, key, pem };
}

/** Good for the servers of the test, and its own authority. */
export const own = writtenCertificate('localhost');

/** Of somebody else. */
export const foreign = writtenCertificate('elsewhere.test');

Object.assign(process.env, { DB_TLS: 'true', DB_TLS_CA: own.cert, DB_HOST: 'localhost' });
