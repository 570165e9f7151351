// `npm run release`: builds a commit of this checkout aside, checks it, migrates, switches to it, has PM2
// or the units of systemd replace the processes, and looks who answers.
// `npm run release -- rollback [name]` goes back; `list` shows what is there. See docs/deployment.md.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { atEnd, command } from './lifetime.mjs';
import { tryLock } from './lock.mjs';
import { waitUntilAllAnswer } from './answers.mjs';
import { appsOf, findPm2, reload, servedByPm2 } from './pm2.mjs';
import { lastLines, run } from './process.mjs';
import { openHome } from './release-home.mjs';
import { checkSettingsOf } from './settings.mjs';
import { complain, Failure, messageOf, note, root, say, step } from './step.mjs';
import { refuseOtherAccount, restartUnits, servedByUnits, unitsIn } from './units.mjs';

/** @typedef {import('./release-home.mjs').Home} Home */
/** @typedef {import('./release-home.mjs').Release} Release */

const SHORT_COMMIT = 12;

async function main() {
  const { values, positionals } = readArguments();
  leaveNpm();
  const home = openHome(values.home);
  const [action = 'deploy', name] = positionals;
  if (action === 'list') return list(home);
  mkdirSync(path.join(home.home, '.local'), { recursive: true, mode: 0o700 });
  process.chdir(home.home);
  if (!(await tryLock('release'))) throw new Failure(`another release of ${home.home} is under way`);
  if (action === 'deploy' && !name) return deploy(home, values);
  if (action === 'rollback') return rollback(home, name);
  throw new Failure(
    'release [--home folder] [--ref commit] [--force], release rollback [name], release list',
  );
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        home: { type: 'string' },
        ref: { type: 'string', default: 'HEAD' },
        force: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new Failure(messageOf(error));
  }
}

/**
 * Who runs the processes: units of systemd that work in `current`, else PM2.
 *
 * @typedef {{
 *   name: string,
 *   tenants: (folder: string) => Promise<Set<string>>,
 *   replace: (link: string, wanted: Release) => Promise<void>,
 *   look: (link: string) => Promise<{ served: import('./answers.mjs').Served[], missing: string[] }>,
 *   save: () => Promise<unknown>,
 * }} Supervisor
 *
 * @param {Home} home @returns {Promise<Supervisor>}
 */
async function findSupervisor({ link }) {
  const units = await unitsIn(link);
  if (units.length > 0) {
    refuseOtherAccount(units);
    return {
      name: 'systemd',
      tenants: async () => new Set(units.map(({ env }) => env.TENANT_CODE ?? '')),
      replace: restartUnits,
      look: servedByUnits,
      save: async () => {},
    };
  }
  const pm2 = findPm2();
  return {
    name: 'PM2',
    tenants: async (folder) => new Set((await appsOf(folder)).map(({ env }) => env.TENANT_CODE ?? '')),
    replace: (folder, wanted) => reload(pm2, folder, wanted),
    look: (folder) => servedByPm2(pm2, folder),
    save: () => run(pm2, ['save'], { name: 'pm2 save' }),
  };
}

// PM2 keeps the environment of this command for its processes: npm's variables do not belong there.
function leaveNpm() {
  for (const name of Object.keys(process.env)) if (/^(npm_|INIT_CWD$)/.test(name)) delete process.env[name];
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  process.env.PATH = folders.filter((folder) => !folder.startsWith(`${root}/`)).join(path.delimiter);
}

/** @param {Home} home @param {{ ref: string, force: boolean }} options */
async function deploy(home, { ref, force }) {
  const supervisor = await findSupervisor(home);
  const release = await describe(ref);
  const folder = home.folderOf(release.name);
  const built = home.releases().find(({ name }) => name === release.name);
  if (built) note(`${release.name} was built before`);
  else await build(home, release);
  const before = home.current();
  await check(supervisor, folder, async (env) => {
    await step(async () => migrate(folder, env));
    await step(async () => examine(folder, env, force));
  });
  await goTo(home, supervisor, built ?? release, before);
  const gone = home.prune();
  if (gone.length > 0) say(`  removed ${gone.join(', ')}`);
  return 0;
}

/** @param {string} ref @returns {Promise<Release>} */
async function describe(ref) {
  /** @param {string[]} args */
  const git = (...args) => run('git', ['-C', root, ...args]);
  const full = await git('rev-parse', '--verify', `${ref}^{commit}`).catch(() => {
    throw new Failure(`"${ref}" is no commit of ${root}; a release is made from a clone of the repository`);
  });
  const commit = full.trim().slice(0, SHORT_COMMIT);
  const { version } = JSON.parse(await git('show', `${commit}:package.json`));
  return { name: `${version}-${commit}`, version, commit, built_at: new Date().toISOString() };
}

/** @param {Home} home @param {Release} release */
async function build(home, release) {
  const folder = home.begin(release.name);
  const env = { NODE_ENV: 'development' };
  /** @param {string[]} args */
  const npm = (...args) => run('npm', [...args, '--no-audit', '--no-fund'], { cwd: folder, env });
  await step(async () => {
    const archive = path.join(folder, '.source.tar');
    await run('git', ['-C', root, 'archive', '-o', archive, release.commit]);
    await run('tar', ['-xf', archive, '-C', folder]);
    await run('rm', [archive]);
    return `${release.name}: sources in ${folder}`;
  });
  note('installing packages, compiling, building the console; some minutes');
  await step(async () => {
    await npm('ci', '--include=dev', '--prefer-offline');
    return 'packages installed';
  });
  await step(async () => {
    await npm('run', 'build');
    await npm('prune', '--omit=dev');
    return 'built';
  });
  home.share(folder);
  home.finish(folder, release);
}

/**
 * Checks for each tenant before anything is replaced: settings, then `work`, then a start of the API.
 *
 * @param {Supervisor} supervisor @param {string} folder @param {(env: NodeJS.ProcessEnv) => Promise<void>} [work]
 */
async function check(supervisor, folder, work) {
  for (const tenant of await supervisor.tenants(folder)) {
    const env = { ...process.env, NODE_ENV: 'production', ...(tenant && { TENANT_CODE: tenant }) };
    if (tenant) note(`tenant ${tenant}`);
    checkSettingsOf(folder, env);
    await work?.(env);
    await step(async () => tryStart(folder, env));
  }
}

/** @param {string} folder @param {NodeJS.ProcessEnv} env @param {string[]} args */
const cli = (folder, env, ...args) =>
  run(process.execPath, [path.join(folder, 'build/src/api/cli/main.js'), ...args], {
    name: `back-office ${args.join(' ')}`,
    cwd: folder,
    env,
  });

/** @param {string} folder @param {NodeJS.ProcessEnv} env */
async function migrate(folder, env) {
  return (await cli(folder, env, 'migrate', 'up')).trim();
}

/** @param {string} folder @param {NodeJS.ProcessEnv} env @param {boolean} force */
async function examine(folder, env, force) {
  const lines = await cli(folder, env, 'doctor').catch((error) => {
    if (!force) throw new Failure(`${messageOf(error)}\nNothing was switched; --force goes on all the same`);
    return messageOf(error);
  });
  const notable = lines.split('\n').filter((line) => / (warning|fault) /.test(line));
  return ['doctor', ...notable.map((line) => `    ${line}`)].join('\n');
}

/** Starts the API of a release beside those that serve, at a port nobody knows, and ends it. @param {string} folder @param {NodeJS.ProcessEnv} env */
async function tryStart(folder, env) {
  const child = spawn(process.execPath, ['build/src/api/main.js'], {
    cwd: folder,
    env: { ...env, HOST: '127.0.0.1', PORT: '0', METRICS_PORT: '' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const forget = atEnd(() => child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (output += data));
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal);
  const first = await Promise.race([once(child, 'message').then(() => 'ready'), ended]);
  if (first !== 'ready') throw new Failure(`its API does not start (${first})\n${lastLines(output)}`);
  child.kill('SIGTERM');
  const code = await ended;
  await forget();
  if (code !== 0) throw new Failure(`its API does not end as it should (${code})\n${lastLines(output)}`);
  return 'its API starts and ends';
}

/** Switches, replaces and looks; goes back to the release before when that fails. @param {Home} home @param {Supervisor} supervisor @param {Release} release @param {string} [before] */
async function goTo(home, supervisor, release, before) {
  try {
    await switchAndReplace(home, supervisor, release);
  } catch (error) {
    const earlier = home.releases().find(({ name }) => name === before);
    if (!earlier || earlier.name === release.name) throw error;
    complain(error);
    note(`going back to ${earlier.name}`);
    await switchAndReplace(home, supervisor, earlier);
    throw new Failure(`${release.name} was not released; ${earlier.name} runs as before`);
  }
  say(`  ${release.name} is released`);
}

/** @param {Home} home @param {Supervisor} supervisor @param {Release} release */
async function switchAndReplace(home, supervisor, release) {
  await step(async () => {
    home.switchTo(release.name);
    await supervisor.replace(home.link, release);
    return `current leads to ${release.name}; ${supervisor.name} has replaced the processes`;
  });
  await step(async () => {
    const count = await waitUntilAllAnswer(() => supervisor.look(home.link), home.link, release);
    return `all ${count} processes answer as ${release.version} ${release.commit}`;
  });
  await supervisor.save();
}

/** @param {Home} home @param {string} [wanted] */
async function rollback(home, wanted) {
  const supervisor = await findSupervisor(home);
  const releases = home.releases();
  const before = home.current();
  const at = releases.findIndex(({ name }) => name === before);
  const release = wanted ? releases.find(({ name }) => name === wanted) : releases[at + 1];
  if (!release || at < 0)
    throw new Failure(wanted ? `there is no release ${wanted}` : 'there is no release before this one');
  const folder = home.folderOf(release.name);
  await check(supervisor, folder);
  await goTo(home, supervisor, release, before);
  say(
    '  Migrations stay: each leaves what the release before reads and writes, so the older code runs on the',
  );
  say('  newer tables, and nothing stored since is lost. `npx back-office migrate status` names them.');
  return 0;
}

/** @param {Home} home */
async function list(home) {
  const current = home.current();
  for (const { name, built_at } of home.releases())
    say(`${name === current ? '*' : ' '} ${name.padEnd(40)} ${built_at}`);
  return 0;
}

command(main);
