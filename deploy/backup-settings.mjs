// For deploy/backup.sh and restore.sh: `node deploy/backup-settings.mjs <file>` writes the account of the database into that
// file, for the clients of MariaDB and MySQL, and prints the other settings they need, quoted for the shell. They are read as
// the service reads them.
import { writeFileSync } from 'node:fs';
import path from 'node:path';

const { config } = await import(new URL('../build/config/index.js', import.meta.url).href);
const { host, port, user, password, name, tls } = config.database;
const { driver, root, s3 } = config.storage;

const inFile = (/** @type {string} */ text) => `"${text.replace(/[\\"']/g, '\\$&')}"`;
const inShell = (/** @type {string} */ text) => `'${text.replaceAll("'", "'\\''")}'`;

const account = [
  ...['[client]', 'protocol=tcp', `host=${inFile(host.replace(/^\[|\]$/g, ''))}`, `port=${port}`],
  ...[`user=${inFile(user)}`, `password=${inFile(password)}`],
];
if (tls) {
  const authority = process.env.DB_TLS_CA || '/etc/ssl/certs/ca-certificates.crt';
  account.push(`ssl-ca=${inFile(path.resolve(config.root, authority))}`);
  account.push('loose-ssl-verify-server-cert', 'loose-ssl-mode=VERIFY_IDENTITY');
}
// MariaDB's would print a failed statement, which has thousands of rows, before the error.
account.push('[mariadb-client]', 'loose-skip-print-query-on-error');
writeFileSync(process.argv[2] ?? '', `${account.join('\n')}\n`, { mode: 0o600 });

const settings = {
  database: name,
  storage_driver: driver,
  storage: root,
  bucket: `s3://${s3.bucket}/${s3.prefix}`,
  s3_endpoint: s3.endpoint ?? '',
  AWS_ACCESS_KEY_ID: s3.accessKeyId,
  AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
  AWS_DEFAULT_REGION: s3.region,
};
for (const [setting, value] of Object.entries(settings)) console.log(`${setting}=${inShell(value)}`);
