// The units of deploy/systemd: systemd finds nothing wrong with them, they run what PM2 runs, and their commands come up.
import '../support/settings/environment.js';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { config } from '../../config/index.js';
import { closeDatabase, db } from '../../src/lib/database/db.js';
import { queueNames } from '../../src/lib/queue/names.js';
import { freePort } from '../support/servers/free-port.js';
import { until } from '../support/until.js';

const source = resolve(config.root, 'deploy/systemd');
const folder = mkdtempSync(join(tmpdir(), 'units-'));
const children = new Set<ChildProcess>();

test.after.always(async () => {
  for (const child of children) {
    const ended = once(child, 'exit');
    if (child.kill('SIGKILL')) await ended;
  }
  rmSync(folder, { recursive: true, force: true });
  await db.query(`DROP DATABASE IF EXISTS \`${process.env.DB_NAME}\``);
  await closeDatabase();
});

const units = Object.fromEntries(
  readdirSync(source).map((name) => [name, readFileSync(join(source, name), 'utf8')]),
);

/** The values of a setting of a unit. */
const valuesOf = (name: string, setting: string): string[] =>
  [...(units[name] ?? '').matchAll(new RegExp(`^${setting}=(.*)$`, 'gm'))].map((match) => match[1] ?? '');

const [api, ...workers] = Object.keys(units).sort() as [string, ...string[]];

/** A unit as it would be installed on this machine. */
function install(name: string, text: string): string {
  const places: [string, string][] = [
    ['User=back-office\n', `User=${userInfo().username}\n`],
    ['Group=back-office\n', ''],
    ['WorkingDirectory=/srv/back-office/current\n', `WorkingDirectory=${config.root}\n`],
    ['ExecStart=/usr/bin/node ', `ExecStart=${process.execPath} `],
  ];
  let own = text;
  for (const [place, here] of places) {
    if (!own.includes(place)) throw new Error(`${name} has no ${place}`);
    own = own.replace(place, here);
  }
  const file = join(folder, name.replace('@', '@3000'));
  writeFileSync(file, own);
  return file;
}

/** What systemd says of units. */
async function findings(...files: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)('systemd-analyze', ['verify', '--man=no', ...files]);
  return (stdout + stderr).trim();
}

test('systemd accepts the units without warnings', async (t) => {
  t.is(await findings(...Object.entries(units).map(([name, text]) => install(name, text))), '');
  const mistyped = units[api]?.replace('TimeoutStopSec', 'TimeoutStopSecs') ?? '';
  t.regex(await findings(install('mistyped@.service', mistyped)), /Unknown key.* 'TimeoutStopSecs'/);
});

interface App {
  script: string;
  args?: string;
  env: Record<string, string>;
  stop_exit_codes: number[];
}

test('the units run the same processes as PM2', async (t) => {
  const file = pathToFileURL(resolve(config.root, 'ecosystem.config.js')).href;
  const { apps } = (await import(file)) as { apps: App[] };
  const ofPm2 = apps.map(({ script, args }) => [script, args].filter(Boolean).join(' '));
  const ours = Object.keys(units).map((name) =>
    valuesOf(name, 'ExecStart')[0]?.replace('/usr/bin/node ', ''),
  );
  t.deepEqual(ours.sort(), ofPm2.sort());
  const ports = workers.map((name) => /METRICS_PORT=(\d+)/.exec(valuesOf(name, 'Environment').join())?.[1]);
  t.deepEqual(ports.sort(), apps.flatMap(({ args, env }) => (args ? [env.METRICS_PORT] : [])).sort());
  const base = /METRICS_PORT=(\d+)/.exec(valuesOf(api, 'Environment').join())?.[1];
  t.is(String(Number(base) + 3000), apps.find(({ args }) => !args)?.env.METRICS_PORT ?? '');
  const queues = workers.flatMap((name) =>
    /--queues (\S+)/.exec(valuesOf(name, 'ExecStart')[0] ?? '')?.[1]?.split(','),
  );
  t.deepEqual(queues.sort(), [...queueNames].sort());
  for (const name of Object.keys(units)) {
    t.deepEqual(valuesOf(name, 'RestartPreventExitStatus'), apps[0]?.stop_exit_codes.map(String));
    t.true(Number(valuesOf(name, 'TimeoutStopSec')[0]) > 10);
    t.true(existsSync(resolve(config.root, /build\/src\/\w+\/main\.js/.exec(units[name] ?? '')?.[0] ?? '')));
  }
});

test('the API started by its unit answers', async (t) => {
  const port = await freePort();
  const [, ...words] = (valuesOf(api, 'ExecStart')[0] ?? '').split(' ');
  const said = valuesOf(api, 'Environment').join(' ').replaceAll('%i', String(port)).split(' ');
  const environment = Object.fromEntries(said.map((word) => word.split('=') as [string, string]));
  // The settings of the tests are not those of production.
  const env = { ...process.env, ...environment, NODE_ENV: 'test' };
  const child = spawn(process.execPath, words, { cwd: config.root, env, stdio: 'ignore' });
  children.add(child);
  const answers = (at: number) =>
    until(
      () =>
        fetch(`http://127.0.0.1:${at}/healthz`).then(
          ({ status }) => status === 200,
          () => false,
        ),
      60_000,
    );
  t.true(await answers(port));
  t.true(await answers(6300 + port));
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  t.deepEqual(await ended, [0, null]);
  children.delete(child);
});
