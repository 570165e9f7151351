// `node bin/needs.mjs nginx systemd-analyze:systemd`: programs that a suite needs, each Debian's package of the same
// name or of the one behind the colon; installed when missing. A path is a file that the suite can do without.
import { existsSync } from 'node:fs';

import { askToInstall, canInstall, install } from './apt.mjs';
import { command, isMain } from './lifetime.mjs';
import { findProgram } from './process.mjs';

/** Installs what is missing of these needs. @param {string[]} needs */
export async function ensureNeeds(needs) {
  const missing = needs.flatMap((need) => {
    const [name = '', wanted = name] = need.split(':');
    const isFile = name.startsWith('/');
    const isThere = isFile ? existsSync(name) || !canInstall() : findProgram(name) !== undefined;
    return isThere ? [] : [wanted];
  });
  const packages = [...new Set(missing)];
  await askToInstall(packages);
  await install(packages);
}

async function main() {
  await ensureNeeds(process.argv.slice(2));
  return 0;
}

if (isMain(import.meta)) command(main);
