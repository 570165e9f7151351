// `npm run release -- --home /srv/back-office [--ref commit]`: builds a commit aside, checks and migrates it, switches
// <home>/current to it and has PM2 replace the processes one after the other. `release rollback` goes back by one.
//   <home>/shared/.env          the settings; files of the service belong here, too
//   <home>/releases/<version>-<commit>   the last three, which <home>/released lists; <home>/current leads to one
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { atEnd, command, isEnding } from '../bin/lifetime.mjs';
import { tryLock } from '../bin/lock.mjs';
import { findProgram, folderOf, lastLines, processesStartedWith, run, stopProcess } from '../bin/process.mjs';
import { checkSettingsOf } from '../bin/settings.mjs';
import { complain, Failure, note, root, step } from '../bin/step.mjs';

const KEPT = 3;
const READY_TIMEOUT_MS = 120_000;

/** @typedef {{ name: string, cwd: string, instances: number, env: Record<string, string> }} App as in ecosystem.config.js */
/** @typedef {{ name: string, pid: number, pm_id: number, pm2_env: { status: string, pm_cwd: string, NODE_APP_INSTANCE: number } }} Started */

const USAGE = 'release [--home folder] [--ref commit], release rollback';

const { values, positionals } = readArguments();
const home = path.resolve(values.home ?? '/srv/back-office');
const link = path.join(home, 'current');
const folderNamed = (/** @type {string} */ name) => path.join(home, 'releases', name);
const pm2 = findProgram('pm2') ?? path.join(root, 'node_modules/.bin/pm2');

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { home: { type: 'string' }, ref: { type: 'string', default: 'HEAD' } },
    });
  } catch {
    complain(new Failure(USAGE));
    return process.exit(1);
  }
}

async function main() {
  const [action = 'deploy'] = positionals;
  if (!['deploy', 'rollback'].includes(action)) throw new Failure(USAGE);
  if (!existsSync(path.join(home, 'shared/.env')))
    throw new Failure(`the settings are missing: ${home}/shared/.env`);
  for (const name of ['releases', '.local'])
    mkdirSync(path.join(home, name), { recursive: true, mode: 0o700 });
  process.chdir(home);
  if (!(await tryLock('release'))) throw new Failure(`another release of ${home} is under way`);
  // PM2 keeps the environment of this command for its processes: npm's variables do not belong there.
  for (const name of Object.keys(process.env)) if (/^(npm_|INIT_CWD$)/.test(name)) delete process.env[name];
  const before = existsSync(link) ? path.basename(readlinkSync(link)) : undefined;
  // What was released and not rolled back, the last first.
  const past = existsSync('released') ? readFileSync('released', 'utf8').split('\n') : [before ?? ''];
  const name = action === 'deploy' ? await deploy() : past[past.indexOf(before ?? '') + 1];
  if (!name) throw new Failure('there is no release before this one');
  linkSettings(name);
  await check(name, action === 'deploy');
  try {
    await goTo(name);
  } catch (error) {
    // A command that is interrupted starts nothing more; `rollback` goes back from where it was.
    if (!before || before === name || isEnding()) throw error;
    complain(error);
    note(`going back to ${before}`);
    await goTo(before);
    throw new Failure(`${name} was not released; ${before} runs as before`);
  }
  await run(pm2, ['save'], { name: 'pm2 save' });
  if (action === 'deploy') keep([name, ...past.filter((one) => one && one !== name)].slice(0, KEPT));
  else writeReleased(past.slice(past.indexOf(name)));
  return 0;
}

/** @param {string[]} names */
function writeReleased(names) {
  writeFileSync('released.next', names.join('\n'));
  renameSync('released.next', 'released');
}

/** Removes what is not among these: old, failed, rolled back or never finished. @param {string[]} names */
function keep(names) {
  writeReleased(names);
  for (const name of readdirSync('releases'))
    if (!names.includes(name)) rmSync(folderNamed(name), { recursive: true });
}

/** Builds the commit, unless that was done before. @returns its name */
async function deploy() {
  const git = (/** @type {string[]} */ ...args) => run('git', ['-C', root, ...args]);
  const commit = await git('rev-parse', '--verify', '--quiet', `${values.ref}^{commit}`).then(
    (hash) => hash.slice(0, 12),
    () => {
      throw new Failure(`there is no commit ${values.ref} in ${root}; git fetch brings new ones`);
    },
  );
  const { version } = JSON.parse(await git('show', `${commit}:package.json`));
  const name = `${version}-${commit}`;
  if (existsSync(folderNamed(name))) return name;
  const folder = folderNamed(`${name}.unfinished`);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  remove();
  // Above all when the disk is full: the database may be on it.
  atEnd(remove);
  mkdirSync(folder);
  const npm = (/** @type {string[]} */ ...args) =>
    run('npm', [...args, '--no-audit', '--no-fund'], { cwd: folder, env: { NODE_ENV: 'development' } });
  await step(async () => {
    await git('archive', '-o', path.join(folder, '.source.tar'), commit);
    await run('tar', ['-xf', '.source.tar'], { cwd: folder });
    rmSync(path.join(folder, '.source.tar'));
    await npm('ci', '--include=dev', '--prefer-offline');
    await npm('run', 'build');
    await npm('prune', '--omit=dev');
    return `${name} is built`;
  });
  writeFileSync(path.join(folder, 'release.json'), JSON.stringify({ commit })); // for the service
  renameSync(folder, folderNamed(name));
  return name;
}

/** Its settings are those of shared/, also of a tenant that is newer than the release. @param {string} name */
function linkSettings(name) {
  for (const file of readdirSync(path.join(home, 'shared')).filter((one) => /^\.env(\.|$)/.test(one))) {
    const own = path.join(folderNamed(name), file);
    rmSync(own, { force: true });
    symlinkSync(path.join('../../shared', file), own);
  }
}

/** The processes that a release names. @param {string} folder @returns {Promise<App[]>} */
async function appsOf(folder) {
  const file = pathToFileURL(path.join(folder, 'ecosystem.config.js')).href;
  const script = `process.stdout.write(JSON.stringify((await import(${JSON.stringify(file)})).apps))`;
  return JSON.parse(await run(process.execPath, ['--input-type=module', '-e', script], { name: file }));
}

/** Before anything is replaced, for each tenant: settings, migrations, a start of the API. @param {string} name @param {boolean} isNew */
async function check(name, isNew) {
  const cwd = folderNamed(name);
  for (const tenant of new Set((await appsOf(cwd)).map(({ env }) => env.TENANT_CODE ?? ''))) {
    const env = { ...process.env, NODE_ENV: 'production', ...(tenant && { TENANT_CODE: tenant }) };
    checkSettingsOf(cwd, env);
    const migrate = ['build/src/api/cli/main.js', 'migrate', 'up'];
    // Each migration leaves what the release before reads and writes, so going back needs none.
    if (isNew)
      await step(async () => (await run(process.execPath, migrate, { cwd, env, name: 'migrate up' })).trim());
    await step(() => tryStart(cwd, env));
  }
}

/** Starts the API at a port nobody knows, and ends it. @param {string} cwd @param {NodeJS.ProcessEnv} env */
async function tryStart(cwd, env) {
  const child = spawn(process.execPath, ['build/src/api/main.js'], {
    cwd,
    env: { ...env, PORT: '0', METRICS_PORT: '' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const forget = atEnd(() => child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (output += data));
  const ended = once(child, 'close'); // with all of its output
  const first = await Promise.race([once(child, 'message').then(() => 'ready'), ended]);
  if (first !== 'ready') throw new Failure(`its API does not start\n${lastLines(output)}`);
  child.kill('SIGTERM');
  await ended;
  await forget();
  return 'its API starts and ends';
}

/** Switches to a release and waits until every process works in it. @param {string} name */
async function goTo(name) {
  rmSync(`${link}.next`, { force: true });
  symlinkSync(path.join('releases', name), `${link}.next`);
  renameSync(`${link}.next`, link);
  await step(async () => `all ${await runInPm2(await appsOf(link))} processes run ${name}`);
}

/** Has PM2 run these apps, and no others, where the link leads to now. @param {App[]} apps @returns how many processes */
async function runInPm2(apps) {
  const isWanted = (/** @type {Started} */ { name }) => apps.some((app) => app.name === name);
  // PM2 would leave what the settings no longer name, as a former tenant, and its port may be another's now.
  const former = (await listStarted()).filter((one) => one.pm2_env.pm_cwd === apps[0]?.cwd && !isWanted(one));
  for (const name of new Set(former.map((one) => one.name))) await run(pm2, ['delete', name]);
  const ecosystem = path.join(link, 'ecosystem.config.js');
  // It waits for each instance to be ready. One that never is must not hold up going back: PM2 ends its predecessor in time.
  const timeoutMs = READY_TIMEOUT_MS * Math.ceil(apps.reduce((sum, { instances }) => sum + instances, 0) / 4);
  const options = { name: 'pm2 startOrReload', cwd: link, mayBeKilled: false, timeoutMs };
  await run(pm2, ['startOrReload', ecosystem], options);
  const numberOf = (/** @type {Started} */ { pm2_env }) => pm2_env.NODE_APP_INSTANCE;
  const isOld = (/** @type {number} */ pid) => pid > 0 && folderOf(pid) !== realpathSync(link);
  for (const deadline = Date.now() + READY_TIMEOUT_MS; ; await sleep(1000)) {
    const started = (await listStarted()).filter(isWanted);
    // PM2 skips an instance whose last reload has not quite ended, and keeps their number.
    const late = started.filter(({ pid, pm2_env }) => pid <= 0 || isOld(pid) || pm2_env.status !== 'online');
    const uneven = apps.filter(
      (app) => app.instances !== started.filter((one) => one.name === app.name).length,
    );
    if (late.length + uneven.length === 0) {
      await stopLost(started.map(({ pid }) => pid));
      return started.length;
    }
    const names = [...new Set([...late, ...uneven].map(({ name }) => name))];
    if (Date.now() > deadline) throw new Failure(`not running in ${link}: ${names.join(', ')}; see pm2 logs`);
    for (const { name, pid } of late) if (isOld(pid)) await run(pm2, ['reload', name]).catch(() => '');
    for (const { name, instances } of uneven) {
      // PM2 would end the first ones, and the ports of the figures count on from the first.
      const order = started.filter((one) => one.name === name).sort((a, b) => numberOf(a) - numberOf(b));
      const surplus = order.slice(instances).map(({ pm_id }) => String(pm_id));
      const change = surplus.length > 0 ? ['delete', ...surplus] : ['scale', name, String(instances)];
      await run(pm2, change).catch(() => '');
    }
  }
}

/** PM2 loses sight of an instance that it restarts while it is starting; that one would serve on. @param {number[]} known */
async function stopLost(known) {
  const started = processesStartedWith(path.join(link, 'build/src/'));
  await Promise.all(started.filter((pid) => !known.includes(pid)).map((pid) => stopProcess(pid)));
}

/** @returns {Promise<Started[]>} */
async function listStarted() {
  const output = await run(pm2, ['jlist', '--silent'], { name: 'pm2 jlist' });
  return JSON.parse(output.split('\n').find((line) => line.startsWith('[')) ?? '[]');
}

command(main);
