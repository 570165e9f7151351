// `npm run release -- --home /srv/back-office [--ref commit]`: builds a commit aside, checks and migrates it, switches
// <home>/current to it and has PM2 replace the processes one after the other. `release rollback` goes back by one.
//   <home>/shared/.env          the settings; files of the service belong here, too
//   <home>/releases/<version>-<commit>   the last three; <home>/current leads to the one that runs
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { atEnd, command } from './lifetime.mjs';
import { tryLock } from './lock.mjs';
import { savePm2, workIn } from './pm2.mjs';
import { lastLines, run } from './process.mjs';
import { checkSettingsOf } from './settings.mjs';
import { complain, Failure, note, root, say, step } from './step.mjs';

const KEPT = 3;

/**
 * @typedef {{ name: string, version: string, commit: string, built_at: string, released_at?: string }} Release
 * released_at: not of one that failed or was rolled back
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { home: { type: 'string' }, ref: { type: 'string', default: 'HEAD' } },
});
const home = path.resolve(values.home ?? process.env.RELEASE_HOME ?? '/srv/back-office');
const link = path.join(home, 'current');
const folderNamed = (/** @type {string} */ name) => path.join(home, 'releases', name);

async function main() {
  const [action = 'deploy'] = positionals;
  if (!['deploy', 'rollback'].includes(action))
    throw new Failure('release [--home folder] [--ref commit], release rollback');
  if (!existsSync(path.join(home, 'shared/.env')))
    throw new Failure(`the settings are missing: ${home}/shared/.env`);
  for (const name of ['releases', '.local'])
    mkdirSync(path.join(home, name), { recursive: true, mode: 0o700 });
  process.chdir(home);
  if (!(await tryLock('release'))) throw new Failure(`another release of ${home} is under way`);
  leaveNpm();
  const before = releases().find(({ name }) => name === current());
  const release = action === 'deploy' ? await deploy() : previous(before);
  linkSettings(release);
  await check(release, action === 'deploy');
  try {
    await goTo(release);
  } catch (error) {
    if (!before || before.name === release.name) throw error;
    complain(error);
    note(`going back to ${before.name}`);
    await goTo(before);
    throw new Failure(`${release.name} was not released; ${before.name} runs as before`);
  }
  await savePm2();
  if (action === 'deploy') {
    if (before) describe({ ...before, released_at: before.released_at ?? before.built_at });
    describe({ ...release, released_at: new Date().toISOString() });
    removeOld();
  } else if (before) describe({ ...before, released_at: undefined });
  return 0;
}

// PM2 keeps the environment of this command for its processes: npm's variables do not belong there.
function leaveNpm() {
  for (const name of Object.keys(process.env)) if (/^(npm_|INIT_CWD$)/.test(name)) delete process.env[name];
}

/** The releases that are whole, the last released first. @returns {Release[]} */
function releases() {
  return readdirSync(path.join(home, 'releases'))
    .map((name) => path.join(folderNamed(name), 'release.json'))
    .filter((file) => existsSync(file))
    .map((file) => JSON.parse(readFileSync(file, 'utf8')))
    .sort((one, other) => ((one.released_at ?? '') < (other.released_at ?? '') ? 1 : -1));
}

/** Writes down what a release is, in one step: a process that starts reads it. @param {Release} release */
function describe(release, folder = folderNamed(release.name)) {
  const file = path.join(folder, 'release.json');
  writeFileSync(`${file}.next`, JSON.stringify(release));
  renameSync(`${file}.next`, file);
}

/** The name of the release that `current` leads to. */
function current() {
  return existsSync(link) ? path.basename(readlinkSync(link)) : undefined;
}

/** The one that was released before. One that failed or was rolled back does not count. @param {Release | undefined} before */
function previous(before) {
  const released = releases().filter(({ released_at }) => released_at);
  const release = released[released.findIndex(({ name }) => name === before?.name) + 1];
  if (!release) throw new Failure('there is no release before this one');
  return release;
}

/** Keeps the last three: what failed, was rolled back or was never finished goes. */
function removeOld() {
  const released = releases().filter(({ released_at }) => released_at);
  const kept = new Set(released.slice(0, KEPT).map(({ name }) => name));
  for (const name of readdirSync(path.join(home, 'releases')))
    if (!kept.has(name)) rmSync(folderNamed(name), { recursive: true });
}

/** Builds the commit, unless that was done before. @returns {Promise<Release>} */
async function deploy() {
  const git = (/** @type {string[]} */ ...args) => run('git', ['-C', root, ...args]);
  const commit = (await git('rev-parse', '--verify', `${values.ref}^{commit}`)).trim().slice(0, 12);
  const { version } = JSON.parse(await git('show', `${commit}:package.json`));
  const release = { name: `${version}-${commit}`, version, commit, built_at: new Date().toISOString() };
  const built = releases().find(({ name }) => name === release.name);
  if (built) return built;
  const folder = folderNamed(`${release.name}.unfinished`);
  rmSync(folder, { recursive: true, force: true });
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
    return `${release.name} is built`;
  });
  describe(release, folder);
  renameSync(folder, folderNamed(release.name));
  return release;
}

/** Its settings are those of shared/, also of a tenant that is newer than the release. @param {Release} release */
function linkSettings({ name }) {
  for (const file of readdirSync(path.join(home, 'shared')).filter((one) => /^\.env(\.|$)/.test(one))) {
    const own = path.join(folderNamed(name), file);
    rmSync(own, { force: true });
    symlinkSync(path.join('../../shared', file), own);
  }
}

/** The processes that a release names. @param {string} folder @returns {Promise<import('./pm2.mjs').App[]>} */
async function appsOf(folder) {
  const file = pathToFileURL(path.join(folder, 'ecosystem.config.js')).href;
  const script = `process.stdout.write(JSON.stringify((await import(${JSON.stringify(file)})).apps))`;
  return JSON.parse(await run(process.execPath, ['--input-type=module', '-e', script], { name: file }));
}

/** Before anything is replaced, for each tenant: settings, migrations, a start of the API. @param {Release} release @param {boolean} isNew */
async function check({ name }, isNew) {
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
    env: { ...env, HOST: '127.0.0.1', PORT: '0', METRICS_PORT: '' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const forget = atEnd(() => child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (output += data));
  const ended = once(child, 'exit');
  const first = await Promise.race([once(child, 'message').then(() => 'ready'), ended]);
  if (first !== 'ready') throw new Failure(`its API does not start\n${lastLines(output)}`);
  child.kill('SIGTERM');
  await ended;
  await forget();
  return 'its API starts and ends';
}

/** Switches to a release and waits until every process works in it. @param {Release} release */
async function goTo({ name }) {
  rmSync(`${link}.next`, { force: true });
  symlinkSync(path.join('releases', name), `${link}.next`);
  renameSync(`${link}.next`, link);
  await step(async () => `all ${await workIn(link, await appsOf(link))} processes run ${name}`);
  say(`  ${name} is released`);
}

command(main);
