// The logs of PM2: deploy/logrotate.conf with Debian's logrotate while a process writes (only account and paths are replaced), and
// what an API under PM2 says last.
import '../support/settings/environment.js';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import test from 'ava';
import { config } from '../../config/index.js';
import { programPath } from '../support/servers/faults.js';
import { until } from '../support/until.js';

const home = mkdtempSync(join(tmpdir(), 'pm2-logs-'));
const logs = join(home, 'logs');
const pm2Program = join(config.root, 'node_modules/pm2/bin/pm2');
const env = { ...process.env, PM2_HOME: home };

const pm2 = (...args: string[]) =>
  execFileSync(process.execPath, [pm2Program, ...args], { env, encoding: 'utf8' });

test.after.always(() => {
  pm2('kill');
  rmSync(home, { recursive: true, force: true });
});

/** Every line of every file, rotated or not. */
function numbers(): number[] {
  return readdirSync(logs)
    .filter((name) => name.startsWith('counter-out'))
    .flatMap((name) => {
      const content = readFileSync(join(logs, name));
      return (name.endsWith('.gz') ? gunzipSync(content) : content).toString().split('\n');
    })
    .filter((line) => line !== '')
    .map(Number);
}

/** PM2 opens its files anew in an instant; what is written in it is lost. */
const maxLostEach = 10;

test.serial('a rotation at a thousand lines a second loses a handful at most', async (t) => {
  const counter = join(home, 'counter.cjs');
  writeFileSync(counter, 'let n = 0; setInterval(() => console.log(++n), 1);');
  const account = `${userInfo().username} ${execFileSync('id', ['-gn'], { encoding: 'utf8' }).trim()}`;
  const file = join(home, 'logrotate.conf');
  const text = readFileSync(resolve(config.root, 'deploy/logrotate.conf'), 'utf8');
  const own = text
    .replaceAll('/home/back-office/.pm2', home)
    .replace('su back-office back-office', `su ${account}`)
    .replace('runuser -u back-office -- ', '')
    .replace(' pm2 reloadLogs', ` ${process.execPath} ${pm2Program} reloadLogs`);
  t.false(/^\s*[^#\s].*back-office/m.test(own.replaceAll(home, '')), own);
  writeFileSync(file, own, { mode: 0o644 });
  const rotate = (...args: string[]) =>
    execFileSync(programPath('logrotate'), ['-s', join(home, 'state'), ...args, file], {
      encoding: 'utf8',
      stdio: 'pipe',
    });

  pm2('start', counter, '--name', 'counter');
  const rotated = () => readdirSync(logs).filter((name) => /^counter-out\.log-/.test(name)).length;
  rotate('-d');
  let last = 0;
  const second = () => Math.floor(Date.now() / 1000);
  const rounds = [1, 2, 3];
  for (const round of rounds) {
    const before = numbers().length;
    // A rotated file is named by its second.
    await until(() => numbers().length > before + 1000 && second() > last);
    rotate('-f');
    last = second();
    t.is(rotated(), round);
  }
  await until(() => readFileSync(join(logs, 'counter-out.log')).length > 0);
  pm2('stop', 'counter');
  const seen = numbers().sort((one, other) => one - other);
  t.true(readdirSync(logs).some((name) => name.endsWith('.gz')));
  const lost = (seen.at(-1) ?? 0) - seen.length;
  t.log(`lines lost: ${lost} of ${seen.at(-1)}`);
  t.is(seen[0], 1);
  t.is(new Set(seen).size, seen.length, 'none twice');
  t.true(lost <= maxLostEach * rounds.length, `${lost} lines lost`);

  // As docs/operations.md follows a trace.
  const page = readFileSync(resolve(config.root, 'docs/operations.md'), 'utf8');
  const [, search = ''] = /`([^`]+ <id> ~\/\.pm2[^`]+)`/.exec(page) ?? [];
  const command = search.replace('<id>', '-x 1').replace('~/.pm2', home);
  t.is(execFileSync('bash', ['-c', command], { encoding: 'utf8' }).trim(), '1', search);
});

test.serial('an API under PM2 that cannot use its settings says so in its log', async (t) => {
  const api = join(config.root, 'build/src/api/main.js');
  const wrong = { NODE_ENV: 'production', PORT: '99999' };
  const options = ['--name', 'refused', '-i', '1', '--merge-logs', '--stop-exit-codes', '78'];
  execFileSync(process.execPath, [pm2Program, 'start', api, ...options], { env: { ...env, ...wrong } });
  const log = join(logs, 'refused-out.log');
  await until(() => existsSync(log) && readFileSync(log, 'utf8').includes('\n'));
  const { level, problems } = JSON.parse(readFileSync(log, 'utf8')) as Record<string, unknown>;
  t.is(level, 'fatal');
  t.true((problems as string[]).includes('"PORT" must be a valid port'));
});
