// build/: compiled only when a source has changed, and without the output of sources that are gone.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { createLocalHome } from './local-home.mjs';
import { withLock } from './lock.mjs';
import { run } from './process.mjs';
import { root } from './step.mjs';

const SOURCE_DIRECTORIES = ['config', 'src', 'test', 'bench'];
const SETTINGS = ['tsconfig.json', 'package-lock.json'];
const OUTPUT = path.join(root, 'build');
const MARKER = path.join(OUTPUT, '.sources');
const COMPILER_STATE = path.join(OUTPUT, '.tsbuildinfo');
export const COMPILER = path.join(root, 'node_modules/typescript/bin/tsc');

/** Compiles if need be; answers what was done as a sentence. */
export async function ensureBuild() {
  const lock = path.join(createLocalHome(), 'build.lock');
  return withLock(lock, 'compiling', async () => {
    const sources = listFiles(SOURCE_DIRECTORIES, '.ts');
    const fingerprint = contentHash([...SETTINGS, ...sources]);
    removeOrphans();
    const isWhole = sources.every((source) => existsSync(outputOf(source)));
    if (isWhole && readIfPresent(MARKER) === fingerprint) return 'build is current';

    rmSync(MARKER, { force: true });
    // The compiler trusts its notes and would not write again what somebody has deleted.
    if (!isWhole) rmSync(COMPILER_STATE, { force: true });
    await run(process.execPath, [COMPILER, '-p', '.'], { name: 'the TypeScript compiler', cwd: root });
    writeFileSync(MARKER, fingerprint);
    return `built from ${sources.length} sources`;
  });
}

/** Deletes compiled files whose source no longer exists, so that a removed test or job never runs again. */
export function removeOrphans() {
  const outputs = listFiles(
    SOURCE_DIRECTORIES.map((directory) => `build/${directory}`),
    '.js',
  );
  for (const output of outputs.filter((file) => !existsSync(sourceOf(file)))) {
    rmSync(path.join(root, output));
    rmSync(path.join(root, `${output}.map`), { force: true });
  }
}

/** A text that changes whenever the compiled service changes. */
export function outputFingerprint() {
  return contentHash(listFiles(['build/config', 'build/src'], '.js'));
}

function sourceOf(output) {
  return path.join(root, output.replace(/^build\//, '').replace(/\.js$/, '.ts'));
}

function outputOf(source) {
  return path.join(OUTPUT, source.replace(/\.ts$/, '.js'));
}

function listFiles(directories, extension) {
  return directories
    .filter((directory) => existsSync(path.join(root, directory)))
    .flatMap((directory) =>
      readdirSync(path.join(root, directory), { recursive: true }).map((name) => path.join(directory, name)),
    )
    .filter((file) => file.endsWith(extension) && !file.endsWith('.d.ts'))
    .sort();
}

// Contents, not times: a checkout of another branch and back must not cost a build.
function contentHash(files) {
  const hash = createHash('sha256');
  for (const file of files)
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(path.join(root, file)))
      .update('\0');
  return hash.digest('hex');
}

function readIfPresent(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
