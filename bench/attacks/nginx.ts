// deploy/nginx.conf in a real nginx before one API: its limits, without TLS, which the attackers do not speak.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port.js';
import { spawnChild, end } from '../support/processes.js';

const shipped = resolve(import.meta.dirname, '../../../deploy/nginx.conf');

/** Starts nginx before the API at that address. @throws Error when a line that it replaces is no longer in the file */
export async function startNginx(api: string): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-nginx-'));
  const port = await freePort();
  const places: [RegExp, string][] = [
    [/^user .*$/m, 'daemon off;'],
    [/^pid .*$/m, `pid ${join(folder, 'nginx.pid')};`],
    [/^error_log .*$/m, 'error_log /dev/null;'],
    [/access_log .*$/m, 'access_log off;'],
    [/^ {4}listen (\[::\]:)?80 .*$/gm, ''],
    [/listen 443 ssl http2;/, `listen 127.0.0.1:${port} backlog=4096;`],
    [/^ {4}(listen \[::\]:443|ssl_).*$/gm, ''],
    [/^ {4}server 127\.0\.0\.1:3000 .*$/m, `    server ${new URL(api).host};`],
    [/^ {4}server 127\.0\.0\.1:3001 .*$/m, ''],
    [/server \{\s*server_name _;[^]*?\n {2}\}/, ''],
  ];
  const text = places.reduce(
    (file, [place, own]) => {
      if (file.search(place) < 0) throw new Error(`deploy/nginx.conf has no ${place}`);
      return file.replace(place, own);
    },
    readFileSync(shipped, 'utf8'),
  );
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, text);
  const child = spawnChild('nginx', ['-p', folder, '-c', file]);
  const url = `http://127.0.0.1:${port}`;
  while (!(await fetch(`${url}/healthz`).catch(() => undefined))?.ok) {
    if (child.exitCode !== null) throw new Error(`nginx ended with exit code ${child.exitCode}`);
    await sleep(50);
  }
  return {
    url,
    async stop() {
      await end(child);
      rmSync(folder, { recursive: true });
    },
  };
}
