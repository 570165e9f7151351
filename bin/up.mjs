// `npm start`: dependencies, build, MariaDB and Redis, then api and worker until Ctrl-C.
// `npm run dev` (--dev) also compiles on every change, and Node.js restarts what has changed.
import path from 'node:path';

import { chooseAddress, isThere, waitUntilReady } from './address.mjs';
import { install } from './apt.mjs';
import { COMPILER, compileOnChange, ensureBuild } from './build.mjs';
import { ensureConsole, serveConsole } from './console.mjs';
import { launch, stopDaemon, stopLeftover } from './daemon.mjs';
import { checkNodeVersion, ensureDependencies } from './dependencies.mjs';
import { atEnd, command, end, isEnding } from './lifetime.mjs';
import { createLocalHome, localHome } from './local-home.mjs';
import { holderOf, tryLock } from './lock.mjs';
import { askForServers, loadSettings, provide } from './services.mjs';
import { checkSettings } from './settings.mjs';
import { complain, Failure, note, root, say, step } from './step.mjs';

const PROCESSES = ['api', 'worker'];
const RESTART_MS = 1000;
const isDevelopment = process.argv.includes('--dev');
/** What runs, by name, and how it is stopped. @type {Map<string, () => Promise<void>>} */
const running = new Map();
let isReady = false;

async function main() {
  process.chdir(root);
  checkNodeVersion();
  loadSettings();
  createLocalHome();
  /** @type {{ address?: string, servers?: Record<string, string> }} */
  const facts = {};
  if (!(await tryLock('run', () => facts))) throw await alreadyRunning();
  const missing = await askForServers();
  for (const name of PROCESSES) await stopLeftover(localHome, name, scriptOf(name));
  await stopLeftover(localHome, 'compiler', COMPILER);
  const [services] = await Promise.all([startServers(missing), build()]);
  const { port, url } = await chooseAddress();
  facts.address = url;
  facts.servers = services; // .local/ and its sockets are open to its owner alone
  /** @type {NodeJS.ProcessEnv} */
  const env = { ...process.env, ...services, PORT: String(port) };
  env.MODULE_PAYMENTS_ENABLED ||= 'true'; // a trial should show every module
  env.NODE_COMPILE_CACHE ||= path.join(localHome, 'compiled'); // from Node.js 22 on a second start compiles nothing
  atEnd(() => {
    note('stopping');
    return Promise.all([...running.values()].map((stop) => stop()));
  });
  await step(async () => {
    for (const name of PROCESSES) start(name, withOwnPort(name, env));
    await waitUntilReady(url);
    return 'ready: api and worker';
  });
  isReady = true;
  greet(url, await isThere(`${url}/docs`)); // DOCS_ENABLED decides
  if (isDevelopment) {
    compileOnChange(localHome, 'inherit');
    await serveConsole(url);
  }
}

/** @param {string[]} missing packages to install before */
async function startServers(missing) {
  await install(missing);
  return provide({ persistent: true, durable: true });
}

async function build() {
  await step(ensureDependencies);
  await step(ensureBuild);
  checkSettings();
  await step(ensureConsole);
}

/** The worker's figures are at a port of their own, as under PM2. @param {string} name @param {NodeJS.ProcessEnv} env */
function withOwnPort(name, env) {
  const port = Number(env.METRICS_PORT);
  return name === 'worker' && port ? { ...env, METRICS_PORT: String(port + 50) } : env;
}

/** Starts a process; one that ends by itself is started again once the service has been ready. @param {string} name @param {NodeJS.ProcessEnv} env */
function start(name, env) {
  if (isEnding()) return;
  const watch = isDevelopment ? ['--watch', '--watch-preserve-output'] : [];
  const args = [...watch, scriptOf(name)];
  const options = { name, home: localHome, program: process.execPath, args, cwd: root, env };
  const child = launch({ ...options, output: 'inherit' });
  const { pid } = child;
  if (!pid) throw new Failure(`${name} cannot be started`);
  const stop = () => stopDaemon({ name, home: localHome, pid });
  running.set(name, stop);
  child.on('exit', (code, signal) => {
    if (isEnding()) return;
    const ended = `the ${name} process ended with ${code ?? signal}`;
    if (!isReady) return giveUp(ended);
    note(`${ended}; starting it again`);
    return void stop().then(() => setTimeout(() => start(name, env), RESTART_MS));
  });
}

/** @param {string} reason */
function giveUp(reason) {
  complain(new Failure(reason));
  void end(1);
}

async function alreadyRunning() {
  const holder = await holderOf('run');
  const where = holder?.address ? `at ${holder.address}` : 'and is just starting';
  return new Failure(`This checkout already runs ${where} (process ${holder?.pid}); stop it there first.`);
}

/** @param {string} name */
function scriptOf(name) {
  return path.join(root, `build/src/${name}/main.js`);
}

/** @param {string} url @param {boolean} hasDocs */
function greet(url, hasDocs) {
  const docs = hasDocs ? `\n  Documentation   ${url}/docs\n  OpenAPI         ${url}/openapi.json` : '';
  say(`
  Address         ${url}${docs}
  Administrator   ${firstAdministrator()}

  Ctrl-C stops everything; the data stays in .local/. "npm run demo" fills it with half a year of data.
`);
}

function firstAdministrator() {
  if (process.env.ADMIN_PASSWORD) return 'admin, with the password in ADMIN_PASSWORD';
  if (process.env.NODE_ENV === 'production') return 'admin, with the password printed at the first start';
  return 'admin / admin123';
}

command(main, { endsBySignal: true });
