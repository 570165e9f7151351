// HAProxy with the files of deploy/, in front of two APIs or of databases.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deployed, OwnServer, programPath } from './faults.js';
import { freePort } from './free-port.js';

export class OwnHaproxy extends OwnServer {
  override readonly env = {};
  readonly url = `http://127.0.0.1:${this.port}`;
  readonly #file = join(this.folder, 'haproxy.cfg');

  /** @param settings makes its file, which may name others in its folder */
  constructor(port: number, settings: (folder: string) => string) {
    super(port);
    writeFileSync(this.#file, settings(this.folder));
  }

  /** The text of its file. */
  settings(): string {
    return readFileSync(this.#file, 'utf8');
  }

  protected override command(): [string, ...string[]] {
    return [programPath('haproxy'), '-db', '-f', this.#file];
  }
}

/** The text with these addresses in the place of its servers, in their order. */
const leadTo = (text: string, addresses: readonly string[]): string =>
  text.replace(/^( +server \S+-)(\d+) \S+/gm, (_, name: string, number: string) => {
    const address = addresses[Number(number) - 1];
    return address === undefined ? `# ${name}${number}` : `${name}${number} ${address}`;
  });

/** Starts one in front of these APIs. */
export async function startHaproxy(apis: readonly string[]): Promise<OwnHaproxy> {
  const port = await freePort();
  const text = deployed('haproxy.cfg')
    .replace(/maxconn \d+/, 'maxconn 500')
    .replace(/bind :80$/m, `bind 127.0.0.1:${port}`);
  const addresses = apis.map((url) => new URL(url).host);
  const server = new OwnHaproxy(port, () => leadTo(text, addresses));
  await server.start();
  return server;
}

/**
 * Starts one in front of databases.
 *
 * @param port leads to the one that takes writes
 */
export async function startDatabaseProxy(
  port: number,
  databases: readonly { port: number }[],
): Promise<OwnHaproxy> {
  const server = new OwnHaproxy(port, (folder) => {
    const [check, account] = [join(folder, 'database-writer.sh'), join(folder, 'database.cnf')];
    writeFileSync(account, '[client]\nuser=tester\n');
    const script = deployed('database-writer.sh').replace('/etc/haproxy/database.cnf', account);
    writeFileSync(check, script, { mode: 0o755 });
    const text = deployed('haproxy-database.cfg')
      .replace(/maxconn \d+/, 'maxconn 500')
      .replace('/etc/haproxy/database-writer.sh', check)
      .replace(/bind :3306$/m, `bind 127.0.0.1:${port}`);
    const addresses = databases.map((one) => `127.0.0.1:${one.port}`);
    return leadTo(text, addresses);
  });
  await server.start();
  return server;
}
