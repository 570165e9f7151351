// nginx with the file of deploy/, in which the places of a test are replaced.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deployed, OwnServer, programPath } from './faults.js';

export class OwnNginx extends OwnServer {
  override readonly env = {};
  readonly #file = join(this.folder, 'nginx.conf');

  /** Writes its file. @throws Error when one of the places is no longer in it */
  install(places: readonly [RegExp, string][]): void {
    let text = deployed('nginx.conf');
    const always: [RegExp, string][] = [
      [/^user .*$/m, 'daemon off;'],
      [/^pid .*$/m, `pid ${join(this.folder, 'nginx.pid')};`],
    ];
    for (const [place, own] of [...always, ...places]) {
      if (text.search(place) < 0) throw new Error(`deploy/nginx.conf has no ${place}`);
      text = text.replace(place, own);
    }
    writeFileSync(this.#file, text);
  }

  protected override command(): [string, ...string[]] {
    return [programPath('nginx'), '-p', this.folder, '-c', this.#file];
  }
}
