// The suites of the tests. `npm test` runs test/ without these folders; each of them has a command.
import path from 'node:path';

import { root } from './step.mjs';

export const apart = /** @type {const} */ ([
  'operations',
  'faults',
  'browser',
  'console',
  'deploy',
  'long',
  'fuzz',
  'machines',
]);

/** The suite that all these files are of; undefined is the main one. @param {string[]} files other arguments are ignored */
export function suiteOf(files) {
  const folders = files
    .map((file) => path.relative(root, path.resolve(file)).split(path.sep))
    .filter(([first]) => first === 'test')
    .map(([, folder]) => folder);
  return apart.find((suite) => folders.length > 0 && folders.every((folder) => folder === suite));
}
