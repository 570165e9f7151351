// HAProxy as deploy/haproxy.cfg has it, in front of two APIs.
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { config } from '../../config/index.js';
import { OwnServer, programPath } from './faults.js';
import { freePort } from './free-port.js';

export class OwnHaproxy extends OwnServer {
  override readonly env = {};
  readonly url = `http://127.0.0.1:${this.port}`;
  readonly #file = join(this.folder, 'haproxy.cfg');

  /** @param apis addresses of the APIs, in the order of the file */
  constructor(port: number, apis: readonly string[]) {
    super(port);
    let next = 0;
    const text = readFileSync(resolve(config.root, 'deploy/haproxy.cfg'), 'utf8')
      .replace(/maxconn \d+/, 'maxconn 500')
      .replace(/bind :80$/m, `bind 127.0.0.1:${port}`)
      .replace(
        /^( +server \S+) \S+$/gm,
        (_, name: string) => `${name} ${new URL(apis[next++] as string).host}`,
      );
    writeFileSync(this.#file, text);
  }

  protected override command(): [string, ...string[]] {
    return [programPath('haproxy'), '-db', '-f', this.#file];
  }

  protected override async answers(): Promise<boolean> {
    const socket = connect(this.port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return true;
    } finally {
      socket.destroy();
    }
  }
}

/** Starts one in front of these APIs. */
export async function startHaproxy(apis: readonly string[]): Promise<OwnHaproxy> {
  const server = new OwnHaproxy(await freePort(), apis);
  await server.start();
  return server;
}
