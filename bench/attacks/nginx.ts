// deploy/nginx.conf in a real nginx before one API: its limits, without TLS, which the attackers do not speak.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { config } from '../../config/index.js';
import { OwnServer } from '../../test/support/faults.js';
import { freePort } from '../../test/support/free-port.js';

class Nginx extends OwnServer {
  override readonly env = {};
  readonly file = join(this.folder, 'nginx.conf');

  protected override command(): [string, ...string[]] {
    return ['nginx', '-p', this.folder, '-c', this.file];
  }
}

/** Starts it before the API at that address. @throws Error when a line that it replaces is no longer in the file */
export async function startNginx(api: string): Promise<Nginx> {
  const nginx = new Nginx(await freePort());
  const places: [RegExp, string][] = [
    [/^user .*$/m, 'daemon off;'],
    [/^pid .*$/m, `pid ${join(nginx.folder, 'nginx.pid')};`],
    [/^error_log .*$/m, 'error_log /dev/null;'],
    [/access_log .*$/m, 'access_log off;'],
    [/^ {4}listen (\[::\]:)?80 .*$/gm, ''],
    [/listen 443 ssl http2;/, `listen 127.0.0.1:${nginx.port} backlog=4096;`],
    [/^ {4}(listen \[::\]:443|ssl_).*$/gm, ''],
    [/^ {4}server 127\.0\.0\.1:3000 .*$/m, `    server ${new URL(api).host};`],
    [/^ {4}server 127\.0\.0\.1:3001 .*$/m, ''],
    [/server \{\s*server_name _;[^]*?\n {2}\}/, ''],
  ];
  let text = readFileSync(join(config.root, 'deploy/nginx.conf'), 'utf8');
  for (const [place, own] of places) {
    if (text.search(place) < 0) throw new Error(`deploy/nginx.conf has no ${place}`);
    text = text.replace(place, own);
  }
  writeFileSync(nginx.file, text);
  await nginx.start();
  return nginx;
}
