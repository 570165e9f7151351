// `npm start` and `npm test` install what is missing, whatever npm's own list says, and run what the sources say.
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { projectRoot } from '../../config/environment.js';

const run = promisify(execFile);

/** A checkout that depends on a folder of its own, so that npm needs no registry. */
async function makeCheckout(): Promise<string> {
  const checkout = mkdtempSync(join(tmpdir(), 'checkout-'));
  cpSync(join(projectRoot, 'bin'), join(checkout, 'bin'), { recursive: true });
  for (const folder of ['word', '.local']) mkdirSync(join(checkout, folder));
  const packages = [
    ['.', { name: 'checkout', version: '1.0.0', private: true, dependencies: { word: 'file:word' } }],
    ['word', { name: 'word', version: '1.0.0' }],
  ] as const;
  for (const [folder, content] of packages)
    writeFileSync(join(checkout, folder, 'package.json'), JSON.stringify(content));
  await run('npm', ['install', '--package-lock-only', '--offline'], { cwd: checkout });
  return checkout;
}

test('a missing package is installed even if the lock list contains it', async (t) => {
  const checkout = await makeCheckout();
  t.teardown(() => rmSync(checkout, { recursive: true }));
  const ensure = async () => {
    const program = `import('./bin/dependencies.mjs').then((m) => m.ensureDependencies()).then(console.log)`;
    const { stdout } = await run(process.execPath, ['-e', program], { cwd: checkout });
    return stdout.trim().split('\n').at(-1);
  };
  t.is(await ensure(), 'dependencies installed');
  t.is(await ensure(), 'dependencies are current');
  rmSync(join(checkout, 'node_modules/word'));
  t.is(await ensure(), 'dependencies installed');
  t.true(existsSync(join(checkout, 'node_modules/word/package.json')));
});

test('a build that another compilation has changed is built again', async (t) => {
  const checkout = mkdtempSync(join(tmpdir(), 'checkout-'));
  t.teardown(() => rmSync(checkout, { recursive: true }));
  for (const name of ['bin', 'tsconfig.json', 'package-lock.json'])
    cpSync(join(projectRoot, name), join(checkout, name), { recursive: true });
  for (const folder of ['config', '.local']) mkdirSync(join(checkout, folder));
  symlinkSync(join(projectRoot, 'node_modules'), join(checkout, 'node_modules'));
  writeFileSync(join(checkout, 'package.json'), '{"type":"module"}');
  const write = (word: string) =>
    writeFileSync(join(checkout, 'config/word.ts'), `export const word = '${word}';\n`);
  const node = (...args: string[]) => run(process.execPath, args, { cwd: checkout });
  const ensure = async () => {
    const program = `await (await import('./bin/build.mjs')).ensureBuild();
      console.log((await import('./build/config/word.js')).word);`;
    return (await node('--input-type=module', '-e', program)).stdout.trim();
  };
  write('first');
  t.is(await ensure(), 'first');
  write('second');
  await node('node_modules/typescript-7/bin/tsc', '-p', '.');
  write('first');
  t.is(await ensure(), 'first');
});
