// What machines get: installed dependencies and builds, the processes of PM2 (ecosystem.config.js) and the release that starts
// them, and the image (Dockerfile, docker-compose.yml) as far as it can be tried without an engine.
import { execFile, execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  readFileSync,
} from 'node:fs';
import { tmpdir, availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
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

interface App {
  cwd: string;
  name: string;
  script: string;
  args?: string;
  instances: number;
  env: Record<string, string>;
}

/** The processes as PM2 reads them. */
function apps(
  env: Record<string, string> = {},
  path = resolve(projectRoot, 'ecosystem.config.js'),
): Promise<App[]> {
  const file = pathToFileURL(path).href;
  const script = `const { apps } = await import(${JSON.stringify(file)}); process.stdout.write(JSON.stringify(apps));`;
  return new Promise((done, fail) => {
    execFile(process.execPath, ['--input-type=module', '-e', script], { env }, (error, stdout, stderr) =>
      error ? fail(new Error(stderr)) : done(JSON.parse(stdout) as App[]),
    );
  });
}

const described = (list: App[]) =>
  list.map(({ name, env }) => [name, env.TENANT_CODE ?? '', env.PORT ?? ''].join(' ').trim());

test('PM2 runs the link to the release', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'releases-'));
  t.teardown(() => rm(home, { recursive: true }));
  await mkdir(join(home, 'releases/1.2.0'), { recursive: true });
  await copyFile(
    resolve(projectRoot, 'ecosystem.config.js'),
    join(home, 'releases/1.2.0/ecosystem.config.js'),
  );
  await writeFile(join(home, 'package.json'), '{"type":"module"}');
  await symlink('releases/1.2.0', join(home, 'current'));
  for (const { cwd } of await apps({}, join(home, 'current/ecosystem.config.js')))
    t.is(cwd, join(home, 'current'));
  for (const { cwd } of await apps()) t.is(cwd, projectRoot);
});

test('without tenants there are an API and two workers', async (t) => {
  const list = await apps();
  t.deepEqual(described(list), ['api', 'worker-quick', 'worker-bulk']);
  t.deepEqual(list[0]?.env, { NODE_ENV: 'production', METRICS_PORT: '9300' });
  t.is(list[0]?.instances, Math.max(1, Math.floor(availableParallelism() / 2)));
});

test('the settings of PM2 may stand in .env, behind a byte order mark and an indented comment', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'ecosystem-'));
  t.teardown(() => rm(folder, { recursive: true }));
  await copyFile(resolve(projectRoot, 'ecosystem.config.js'), join(folder, 'ecosystem.config.js'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(join(folder, '.env'), '\uFEFFAPI_INSTANCES=3\r\n  # indented\r\nMETRICS_PORT=9400\r\n');
  const [api] = await apps({}, join(folder, 'ecosystem.config.js'));
  t.deepEqual([api?.instances, api?.env.METRICS_PORT], [3, '9400']);
});

test('each tenant has processes, a name and a port of its own', async (t) => {
  const list = await apps({ TENANTS: 'acme, globex:3105,initech', PORT: '3100', API_INSTANCES: '1' });
  t.deepEqual(described(list), [
    ...['api-acme acme 3100', 'worker-quick-acme acme 3100', 'worker-bulk-acme acme 3100'],
    ...['api-globex globex 3105', 'worker-quick-globex globex 3105', 'worker-bulk-globex globex 3105'],
    ...['api-initech initech 3102', 'worker-quick-initech initech 3102', 'worker-bulk-initech initech 3102'],
  ]);
  for (const { env } of list) t.is(env.NODE_ENV, 'production');
});

test('no two processes serve metrics on the same port', async (t) => {
  const list = await apps({ TENANTS: 'acme,globex', API_INSTANCES: '3', METRICS_PORT: '9400' });
  const ports = list.flatMap(({ env, instances }) =>
    Array.from({ length: instances }, (_, instance) => Number(env.METRICS_PORT) + instance),
  );
  t.deepEqual(ports, [...[9400, 9401, 9402, 9450, 9451], ...[9500, 9501, 9502, 9550, 9551]]);
});

test('every queue has a worker', async (t) => {
  const queues = (await apps()).flatMap(({ args }) => args?.replace('--queues ', '').split(',') ?? []);
  const { queueNames } = await import('../../src/lib/queue/names.js');
  t.deepEqual(queues.sort(), [...queueNames].sort());
});

test('wrong and repeated tenants are refused', async (t) => {
  for (const TENANTS of ['Acme', 'a b', 'acme:x', 'acme:0', 'acme,acme:3009', 'acme:3001,globex:3001']) {
    await t.throwsAsync(apps({ TENANTS }), { message: /TENANTS/ }, TENANTS);
  }
});

test('a misspelt option of npm run release is answered with its usage', async (t) => {
  const script = resolve(projectRoot, 'deploy/release.mjs');
  for (const argument of ['--hom=/srv', 'rolback'])
    await t.throwsAsync(promisify(execFile)(process.execPath, [script, argument]), {
      message: /✗ release \[--home folder\] \[--ref commit\], release rollback\n$/,
    });
});

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
