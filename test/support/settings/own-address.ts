// Second import of a test file that brings its own database: where it will be, before the configuration is read.
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';

// Chosen here: the system would answer after the configuration is read. Above the ports of `freePort`.
function unusedPort(): number {
  const used = readFileSync('/proc/net/tcp', 'utf8');
  for (;;) {
    const port = 30_000 + randomInt(2700);
    if (!used.includes(`:${port.toString(16).toUpperCase()} `)) return port;
  }
}

/** Of the server that takes writes. */
export const databasePort = unusedPort();

Object.assign(process.env, {
  ...{ DATABASE_URL: '', DB_HOST: '127.0.0.1', DB_PORT: String(databasePort) },
  ...{ DB_USER: 'service', DB_PASSWORD: '' },
});
