// node_modules: installed with `npm ci` only when it does not match package-lock.json.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { withLock } from './lock.mjs';
import { run } from './process.mjs';
import { Failure, note, root } from './step.mjs';

const MIN_NODE = /** @type {const} */ ([20, 19]);

/** @typedef {{ version?: string, integrity?: string, optional?: boolean, devOptional?: boolean }} Entry */

/** Refuses a Node.js that is too old for the libraries, with a sentence instead of a syntax error. */
export function checkNodeVersion() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1])) return;
  throw new Failure(`Node.js ${MIN_NODE.join('.')} or newer is needed; this is ${process.versions.node}`);
}

/** Makes node_modules match the lock file; answers what was done as a sentence. */
export async function ensureDependencies() {
  if (areDependenciesCurrent()) return 'dependencies are current';
  return withLock('install', async () => {
    if (areDependenciesCurrent()) return 'dependencies are current';
    note('installing packages with npm ci, which takes a minute or two');
    await run('npm', ['ci', '--include=dev', '--no-audit', '--no-fund'], { cwd: root });
    return 'dependencies installed';
  });
}

// npm writes its list of installed packages last, so an interrupted run leaves none. The folders are checked as well: a list
// that was copied or linked belongs to another checkout.
function areDependenciesCurrent() {
  const { '': _, ...wanted } = packagesOf('package-lock.json') ?? {};
  const installed = packagesOf('node_modules/.package-lock.json');
  if (!installed || Object.keys(installed).some((name) => !(name in wanted))) return false;
  return Object.entries(wanted).every(([name, entry]) => {
    const found = installed[name];
    if (!found) return entry.optional || entry.devOptional; // for another platform
    return found.version === entry.version && found.integrity === entry.integrity && isThere(name);
  });
}

/** @param {string} name */
const isThere = (name) => existsSync(path.join(root, name, 'package.json'));

/** @param {string} file @returns {Record<string, Entry> | undefined} */
function packagesOf(file) {
  const full = path.join(root, file);
  return existsSync(full) ? JSON.parse(readFileSync(full, 'utf8')).packages : undefined;
}
