// deploy/nginx.conf in a real nginx before one API: its limits, without TLS, which the attackers do not speak.
import { freePort } from '../../test/support/servers/free-port.js';
import { OwnNginx } from '../../test/support/servers/nginx.js';

/** Starts it before the API at that address. @throws Error when a line that it replaces is no longer in the file */
export async function startNginx(api: string): Promise<OwnNginx> {
  const nginx = new OwnNginx(await freePort());
  nginx.install([
    [/^error_log .*$/m, 'error_log /dev/null;'],
    [/access_log .*$/m, 'access_log off;'],
    [/^ {4}listen (\[::\]:)?80 .*$/gm, ''],
    [/listen 443 ssl http2;/, `listen 127.0.0.1:${nginx.port} backlog=4096;`],
    [/^ {4}(listen \[::\]:443|ssl_).*$/gm, ''],
    [/^ {4}server 127\.0\.0\.1:3000 .*$/m, `    server ${new URL(api).host};`],
    [/^ {4}server 127\.0\.0\.1:3001 .*$/m, ''],
    [/server \{\s*server_name _;[^]*?\n {2}\}/, ''],
  ]);
  await nginx.start();
  return nginx;
}
