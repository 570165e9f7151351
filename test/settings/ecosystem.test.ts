// ecosystem.config.js: which processes PM2 runs, without tenants and with several; and the release that starts them.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { projectRoot } from '../../config/environment.js';

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
