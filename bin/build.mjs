// build/: compiled only when a source has changed; output of deleted sources is removed.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { launch, stopDaemon } from './daemon.mjs';
import { atEnd } from './lifetime.mjs';
import { withLock } from './lock.mjs';
import { run } from './process.mjs';
import { root } from './step.mjs';

const SOURCES = ['config', 'src', 'test', 'bench'];
const SETTINGS = ['tsconfig.json', 'package-lock.json'];
/** The native compiler; the older one of the same language serves programs that read sources. */
export const COMPILER = path.join(root, 'node_modules/typescript-7/bin/tsc');
const MARKER = path.join(root, 'build/.sources');
/** What the compiler remembers of its last run. */
const MEMORY = path.join(root, 'build/.tsbuildinfo');

/** Compiles if need be; answers what was done as a sentence. */
export function ensureBuild() {
  return withLock('build', async () => {
    const sources = filesIn('.', '.ts');
    const hash = hashOf([...SETTINGS, ...sources]);
    // Others compile into build/, too: `npm run check`, an editor.
    const fingerprint = () => `${hash} ${existsSync(MEMORY) ? hashOf([MEMORY]) : ''}`;
    const wanted = new Set(sources.map((source) => `build/${source.replace(/\.ts$/, '.js')}`));
    const outputs = filesIn('build', '.js');
    for (const output of outputs.filter((file) => !wanted.has(file))) rmSync(path.join(root, output));
    const isWhole = outputs.filter((file) => wanted.has(file)).length === wanted.size;
    if (isWhole && existsSync(MARKER) && read(MARKER).toString() === fingerprint()) return 'build is current';

    rmSync(MARKER, { force: true });
    // The incremental compiler would not restore deleted output.
    if (!isWhole) rmSync(MEMORY, { force: true });
    await run(process.execPath, [COMPILER, '-p', '.'], { name: 'the TypeScript compiler', cwd: root });
    writeFileSync(MARKER, fingerprint());
    return `built from ${sources.length} sources`;
  });
}

/**
 * Compiles at every change until the end of the command.
 *
 * @param {string} home the folder of its pid file
 * @param {'inherit' | number} output where it says what is wrong
 */
export function compileOnChange(home, output) {
  const args = [COMPILER, '-p', '.', '--watch', '--preserveWatchOutput'];
  const { pid } = launch({ name: 'compiler', home, program: process.execPath, args, cwd: root, output });
  if (pid) atEnd(() => stopDaemon({ name: 'compiler', home, pid }));
}

/**
 * A fingerprint of the contents of these files, not of their times: switching branches back and forth must not
 * cost a build.
 *
 * @param {string[]} files
 */
export function hashOf(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(read(file)).update('\0');
  return hash.digest('hex');
}

/** @param {string} base @param {string} extension @param {string[]} directories */
export function filesIn(base, extension, directories = SOURCES) {
  return directories
    .map((directory) => path.join(base, directory))
    .filter((directory) => existsSync(path.join(root, directory)))
    .flatMap((directory) =>
      readdirSync(path.join(root, directory), { recursive: true, encoding: 'utf8' }).map((name) =>
        path.join(directory, name),
      ),
    )
    .filter((file) => file.endsWith(extension) && !file.endsWith('.d.ts'))
    .sort();
}

/** @param {string} file */
function read(file) {
  return readFileSync(path.resolve(root, file));
}
