// The Dockerfile as far as it can be tried without an engine: what it copies is there, and what it writes is what the service reads.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { projectRoot } from '../../config/environment.js';

const dockerfile = readFileSync(resolve(projectRoot, 'Dockerfile'), 'utf8');

test('every file the image copies exists in the checkout', (t) => {
  const lines = [...dockerfile.matchAll(/^COPY (?!--from)(.+)$/gm)].map((match) => match[1] ?? '');
  const sources = lines.flatMap((line) => line.split(' ').slice(0, -1));
  t.true(sources.length > 5);
  t.deepEqual(
    sources.filter((source) => !existsSync(resolve(projectRoot, source))),
    [],
  );
});

test('the service reports the commit of the image', (t) => {
  const app = mkdtempSync(join(tmpdir(), 'image-'));
  t.teardown(() => rmSync(app, { recursive: true }));
  const [, command = ''] = /^RUN (echo .*release\.json)$/m.exec(dockerfile) ?? [];
  cpSync(resolve(projectRoot, 'build/config'), join(app, 'build/config'), { recursive: true });
  writeFileSync(join(app, 'package.json'), '{"version":"7.8.9","type":"module"}');
  const modules = resolve(projectRoot, 'node_modules');
  execFileSync('ln', ['-s', modules, join(app, 'node_modules')]);
  const file = pathToFileURL(join(app, 'build/config/index.js')).href;
  const script = `const { config } = await import(${JSON.stringify(file)}); console.log(config.version, config.commit)`;
  const said = (COMMIT: string): string => {
    execFileSync('sh', ['-c', command], { cwd: app, env: { COMMIT } });
    const options = {
      env: { JWT_SECRET: 'x'.repeat(40), APP_KEY: 'y'.repeat(40) },
      encoding: 'utf8',
    } as const;
    return execFileSync(process.execPath, ['--input-type=module', '-e', script], options).trim();
  };
  t.is(said('0123456789ab'), '7.8.9 0123456789ab');
  t.is(said(''), '7.8.9');
});
