// The MariaDB and Redis that commands start: restarted when they end, stopped with the command.
import '../support/settings/environment.js';
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import test from 'ava';
import { Redis } from 'ioredis';
import { createConnection } from 'mysql2/promise';
import { config } from '../../config/index.js';
import { until } from '../support/until.js';

const configured = /^(DB_|DATABASE_URL|REDIS_|THROW_AWAY_HOME)/;

test('a database and a Redis that are killed are started again with what they held', async (t) => {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !configured.test(name)));
  const command = spawn(process.execPath, ['bin/services.mjs'], {
    cwd: config.root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => command.kill());
  const settings = new Map<string, string>();
  createInterface({ input: command.stdout }).on('line', (line) => {
    const [, name, value] = /^([A-Z_]+)=(.*)$/.exec(line) ?? [];
    if (name && value) settings.set(name, value);
  });
  await until(() => settings.has('REDIS_URL') && settings.has('DB_PORT'), 60_000);

  const redis = new Redis(settings.get('REDIS_URL') ?? '', { retryStrategy: () => 100 });
  redis.on('error', () => undefined);
  t.teardown(() => redis.disconnect());
  const query = async (sql: string): Promise<unknown> => {
    const connection = await createConnection({
      host: settings.get('DB_HOST'),
      port: Number(settings.get('DB_PORT')),
      user: settings.get('DB_USER'),
      password: settings.get('DB_PASSWORD'),
      database: settings.get('DB_NAME'),
    });
    return connection.query(sql).finally(() => connection.destroy());
  };
  await query('CREATE TABLE kept (id INT PRIMARY KEY)');
  await query('INSERT INTO kept VALUES (7)');
  await redis.set('kept', '7');

  const [, folder] = (await redis.config('GET', 'dir')) as [string, string];
  const home = dirname(folder);
  const pidOf = (name: string) => Number(readFileSync(join(home, `${name}.pid`), 'utf8'));
  const old = ['mariadb', 'redis'].map(pidOf);
  for (const pid of old) process.kill(pid, 'SIGKILL');
  const rows = await until(() => query('SELECT id FROM kept').catch(() => undefined), 60_000);
  t.like(rows, [[{ id: 7 }]]);
  t.is(await until(() => redis.get('kept').catch(() => undefined), 60_000), '7');
  t.false(['mariadb', 'redis'].some((name) => old.includes(pidOf(name))));

  command.kill();
  const [code] = (await once(command, 'exit')) as [number | null];
  t.is(code, 0);
  t.false(existsSync(home));
});

test('servers are also configured by .env behind an indented comment', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'services-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  cpSync(join(config.root, 'bin'), join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, '.env'), '\uFEFFPORT=3000\n  # the server of the office\nDB_HOST=db.example\n');
  const script = `import { loadSettings } from './bin/services.mjs'; loadSettings(); console.log(process.env.DB_HOST);`;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !configured.test(name)));
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: folder, env });
  t.is(said.toString().trim(), 'db.example');
});

/** What a command says that cannot start with these settings. */
function refusalOf(args: string[], settings: Record<string, string>): Promise<string> {
  const options = { cwd: config.root, env: { ...process.env, ...settings } };
  return promisify(execFile)(process.execPath, args, options).then(
    ({ stdout }) => stdout,
    ({ stderr }: { stderr: string }) => stderr,
  );
}

test('a start names the server or the address that is not there', async (t) => {
  t.regex(
    await refusalOf(['bin/services.mjs'], { REDIS_SENTINELS: '127.0.0.1:1,127.0.0.1:2' }),
    /^✗ the configured Redis does not answer on 127\.0\.0\.1:1;/,
  );
  const program = `import { command } from './bin/lifetime.mjs'; import { chooseAddress } from './bin/address.mjs';
    command(async () => void (await chooseAddress()));`;
  for (const PORT of ['', '4000'])
    t.regex(
      await refusalOf(['--input-type=module', '-e', program], { HOST: '192.0.2.1', PORT }),
      /^✗ HOST and PORT cannot be used: listen EADDRNOTAVAIL: .*192\.0\.2\.1/,
    );
});

test('a start finds its service at a port that fetch refuses', (t) => {
  const address = `127.9.${randomInt(256)}.1`;
  const program = `import { createServer } from 'node:http'; import { isThere } from './bin/address.mjs';
    const server = createServer((_, response) => response.end()).listen(6000, '${address}', async () => {
      console.log(await isThere('http://${address}:6000/docs'));
      server.close();
    });`;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: config.root });
  t.is(said.toString(), 'true\n');
});

test('of several commands one takes the lock that a killed one has left', (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'lock-'));
  t.teardown(() => rmSync(cwd, { recursive: true }));
  mkdirSync(join(cwd, '.local'));
  const run = (script: string) => {
    const program = `import { tryLock } from '${join(config.root, 'bin/lock.mjs')}'; ${script}`;
    return spawnSync(process.execPath, ['--input-type=module', '-e', program], { cwd, encoding: 'utf8' });
  };
  t.is(run(`await tryLock('left'); process.kill(process.pid, 'SIGKILL');`).signal, 'SIGKILL');
  const { stdout } = run(`const locks = await Promise.all([1, 2, 3].map(() => tryLock('left')));
    console.log(locks.filter(Boolean).length);
    process.exit();`);
  t.is(stdout, '1\n');
});

test('what a killed command has left is stopped with what that had started', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'left-'));
  t.teardown(() => rmSync(home, { recursive: true }));
  const run = (script: string): string =>
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: config.root }).toString();
  // A shell with a child of its own, as the compiler of `npm run dev` is; it names its folder.
  const left = `{ name: 'left', home: '${home}', program: 'sh', args: ['-c', 'sleep 300 & wait', '${home}/'] }`;
  const processes = `import { processesIn } from './bin/process.mjs';
    console.log(processesIn('${home}').length);`;
  run(`import { launch } from './bin/daemon.mjs'; launch({ ...${left}, cwd: '${home}', output: 'ignore' });`);
  t.is(run(processes), '2\n');
  run(`import { stopLeftover } from './bin/daemon.mjs'; await stopLeftover('${home}', 'left');`);
  t.is(run(processes), '0\n');
});
