// node_modules: installed with `npm ci` only when it does not match package-lock.json.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { createLocalHome } from './local-home.mjs';
import { withLock } from './lock.mjs';
import { run } from './process.mjs';
import { Failure, note, root } from './step.mjs';

const OLDEST_NODE = [20, 19];

/** Refuses a Node.js that is too old for the libraries, with a sentence instead of a syntax error. */
export function checkNodeVersion() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  throw new Failure(`Node.js ${OLDEST_NODE.join('.')} or newer is needed; this is ${process.versions.node}`);
}

/** Makes node_modules match the lock file; answers what was done as a sentence. */
export async function ensureDependencies() {
  if (areDependenciesCurrent()) return 'dependencies are current';
  const lock = path.join(createLocalHome(), 'install.lock');
  return withLock(lock, 'installing dependencies', async () => {
    if (areDependenciesCurrent()) return 'dependencies are current';
    note('installing dependencies with npm ci');
    await run('npm', ['ci', '--include=dev', '--no-audit', '--no-fund'], { cwd: root });
    return 'dependencies installed';
  });
}

// npm keeps a list of what it has really installed; it writes it last, so an interrupted run has none.
function areDependenciesCurrent() {
  const manifest = readJson('package.json');
  const { '': project, ...wanted } = readJson('package-lock.json').packages;
  const installed = readJson('node_modules/.package-lock.json')?.packages;
  if (!installed || !declaresSame(project, manifest)) return false;
  return (
    Object.entries(wanted).every(([name, entry]) => isInstalled(name, entry, installed[name])) &&
    Object.keys(installed).every((name) => name in wanted)
  );
}

function isInstalled(name, wanted, installed) {
  if (!installed) return Boolean(wanted.optional || wanted.devOptional); // for another platform
  if (installed.version !== wanted.version || installed.integrity !== wanted.integrity) return false;
  return existsSync(path.join(root, name, 'package.json'));
}

function declaresSame(project, manifest) {
  return ['dependencies', 'devDependencies', 'optionalDependencies'].every((kind) =>
    isDeepStrictEqual({ ...project[kind] }, { ...manifest[kind] }),
  );
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(path.join(root, file), 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}
