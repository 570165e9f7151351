// Dockerfile and docker-compose.yml as far as they can be tried without an engine: what the image copies is there, what it
// writes is what the service reads, what YAML would read otherwise than it looks, and the profile of many machines.
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
      env: { NODE_ENV: 'development', JWT_SECRET: 'x'.repeat(40), APP_KEY: 'y'.repeat(40) },
      encoding: 'utf8',
    } as const;
    return execFileSync(process.execPath, ['--input-type=module', '-e', script], options).trim();
  };
  t.is(said('0123456789ab'), '7.8.9 0123456789ab');
  t.is(said(''), '7.8.9');
});

interface App {
  script: string;
  args?: string;
}

const compose = readFileSync(resolve(projectRoot, 'docker-compose.yml'), 'utf8');

/** The part of a service, up to the next one. */
const serviceNamed = (name: string): string =>
  new RegExp(`^ {2}${name}:\\n((?: {3,}.*\\n|\\n)+)`, 'm').exec(
    compose.slice(compose.indexOf('\nservices:')),
  )?.[1] ?? '';

test('list items are never parsed as mappings', (t) => {
  const items = [...compose.matchAll(/^ *- (.*)$/gm)].map(([, item]) => item as string);
  t.true(items.length > 30);
  t.deepEqual(
    items.filter((item) => !/^['"[]/.test(item) && !/^\w+: /.test(item) && item.includes(': ')),
    [],
  );
});

test('the profile of many machines has two of each process', (t) => {
  const many = ['api-2', 'worker-quick-2', 'worker-bulk-2', 'haproxy', 's3', 's3-bucket'];
  for (const name of many) t.regex(serviceNamed(name), /profiles: \[many\]/, name);
  for (const name of ['redis-2', 'redis-3']) t.regex(serviceNamed(name), /<<: \*replica/, name);
  for (const name of ['sentinel-1', 'sentinel-2', 'sentinel-3'])
    t.regex(serviceNamed(name), /<<: \*sentinel/, name);
  for (const name of ['api', 'worker-quick', 'worker-bulk', 'database', 'redis'])
    t.notRegex(serviceNamed(name), /profiles:/, name);
});

test('the processes are those of PM2', async (t) => {
  const file = pathToFileURL(resolve(projectRoot, 'ecosystem.config.js')).href;
  const { apps } = (await import(file)) as { apps: App[] };
  const ofPm2 = apps.map(({ script, args }) => [script, args].filter(Boolean).join(' '));
  const commands = [...compose.matchAll(/command:\s*\[\s*node,([^\]]+)\]/g)].map(([, words = '']) =>
    words
      .replaceAll("'", '')
      .replace(/,?\s+$/, '')
      .trim()
      .split(/,\s+/)
      .join(' '),
  );
  const [, words = '[]'] = /^CMD (\[.*\])$/m.exec(dockerfile) ?? [];
  const [, ...ofApi] = JSON.parse(words) as string[];
  t.deepEqual([ofApi.join(' '), ...commands.slice(0, 2)], ofPm2);
  t.deepEqual(commands.slice(2), commands.slice(0, 2));
});

test('the log of no container grows without bound', (t) => {
  const services = compose.slice(compose.indexOf('\nservices:'), compose.indexOf('\nconfigs:'));
  const names = [...services.matchAll(/^ {2}([\w-]+):$/gm)].map(([, name]) => name as string);
  t.true(names.length > 15);
  t.regex(
    compose,
    /^x-logging: &logging\n {2}driver: local\n {2}options: .*max-size: \d+m, max-file: '\d+'/m,
  );
  const bounded = /^ +logging: \*logging$/m;
  for (const name of names) {
    const [, shared] = /<<: \*(\w+)/.exec(serviceNamed(name)) ?? [];
    // A worker is a service with a health check.
    const above = shared === 'worker' ? 'service' : shared;
    const part = above
      ? new RegExp(`^x-${above}: &${above}\\n(?: .*\\n|\\n)+`, 'm').exec(compose)?.[0]
      : serviceNamed(name);
    t.regex(part ?? '', bounded, name);
  }
});
