// Servers of another Debian suite: packages and their dependencies, unpacked below .local/ and run with their own C library.
// Nothing is installed.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { findProgram, run } from '../../bin/process.mjs';
import { Failure, root, step } from '../../bin/step.mjs';

const MIRROR = 'http://deb.debian.org/debian';
const KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg';

/**
 * What is taken from a suite.
 *
 * @typedef {object} Outside
 * @property {string} suite a suite of Debian
 * @property {string[]} packages
 * @property {Record<string, (root: string) => string[]>} programs below the unpacked root, and the arguments that each needs to find its files there
 */

/** Whether another suite's packages can be had here: by apt, from an archive whose keys are known. */
function canUnpack() {
  return existsSync(KEYS) && findProgram('apt-get') !== undefined && findProgram('dpkg-deb') !== undefined;
}

/** Unpacks packages, once. @param {Outside} outside @returns {Promise<string>} the folder of their programs, for PATH */
export async function unpack({ suite, packages, programs }) {
  if (!canUnpack())
    throw new Failure(`${packages.join(' and ')} of Debian ${suite} can only be had on Debian`);
  const home = path.join(root, '.local/debian', suite, packages.join('+'));
  const folder = path.join(home, 'programs');
  if (existsSync(folder)) return folder;
  await step(async () => {
    rmSync(home, { recursive: true, force: true });
    const unpacked = path.join(home, 'root');
    mkdirSync(unpacked, { recursive: true });
    for (const archive of await download(home, suite, packages))
      await run('dpkg-deb', ['-x', archive, unpacked]);
    wrap(unpacked, programs, `${folder}.unfinished`);
    for (const name of ['cache', 'state']) rmSync(path.join(home, name), { recursive: true });
    renameSync(`${folder}.unfinished`, folder);
    return `${packages.join(' and ')} of Debian ${suite} unpacked in ${home}`;
  });
  return folder;
}

// With an empty list of installed packages apt downloads all dependencies, the C library included. The system's own apt state is untouched.
/** @param {string} home @param {string} suite @param {string[]} packages @returns {Promise<string[]>} the archives */
async function download(home, suite, packages) {
  const archives = path.join(home, 'cache/archives');
  for (const name of ['state/lists/partial', 'cache/archives/partial'])
    mkdirSync(path.join(home, name), { recursive: true });
  writeFileSync(path.join(home, 'status'), '');
  writeFileSync(path.join(home, 'sources.list'), `deb [signed-by=${KEYS}] ${MIRROR} ${suite} main\n`);
  const settings = {
    'Dir::Etc::sourcelist': path.join(home, 'sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::State': path.join(home, 'state'),
    'Dir::Cache': path.join(home, 'cache'),
    'Dir::State::status': path.join(home, 'status'),
    // apt's sandbox account cannot write here.
    'APT::Sandbox::User': 'root',
    'Acquire::Languages': 'none',
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  await run('apt-get', [...options, '-q', 'update']);
  const only = ['--no-install-recommends', '--download-only'];
  await run('apt-get', [...options, '-q', '-y', ...only, 'install', ...packages]);
  return readdirSync(archives)
    .filter((name) => name.endsWith('.deb'))
    .map((name) => path.join(archives, name));
}

// Replaces each program by a script that runs it with the unpacked loader and libraries.
/** @param {string} unpacked @param {Outside['programs']} programs @param {string} folder */
function wrap(unpacked, programs, folder) {
  const usr = path.join(unpacked, 'usr');
  const loader = find(usr, /^lib/, /^ld-linux-.*\.so/);
  const libraries = path.dirname(find(path.join(usr, 'lib'), /-linux-gnu$/, /^libc\.so\.6$/));
  mkdirSync(folder);
  for (const [name, argumentsFor] of Object.entries(programs)) {
    const program = path.join(unpacked, name);
    renameSync(program, `${program}.real`);
    const command = [loader, '--library-path', libraries, `${program}.real`];
    const words = [...command.map(quoted), '"$@"', ...argumentsFor(unpacked).map(quoted)];
    writeFileSync(program, `#!/bin/sh\nexec ${words.join(' ')}\n`, { mode: 0o755 });
    symlinkSync(program, path.join(folder, path.basename(name)));
  }
}

/** The first file of a kind in a kind of folder. @param {string} parent @param {RegExp} folders @param {RegExp} files */
function find(parent, folders, files) {
  for (const folder of readdirSync(parent).filter((name) => folders.test(name))) {
    const file = readdirSync(path.join(parent, folder)).find((name) => files.test(name));
    if (file) return path.join(parent, folder, file);
  }
  throw new Failure(`no ${files.source} below ${parent}`);
}

/** @param {string} word */
function quoted(word) {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
