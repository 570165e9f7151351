// `npm start`: dependencies, build, MariaDB and Redis, then api and worker until Ctrl-C.
// `npm run dev` (--dev) also compiles and restarts them on every change.
import path from 'node:path';

import { chooseAddress, waitUntilReady } from './address.mjs';
import { ensureBuild } from './build.mjs';
import { checkNodeVersion, ensureDependencies } from './dependencies.mjs';
import { atEnd, command, end, isEnding } from './lifetime.mjs';
import { createLocalHome, localHome } from './local-home.mjs';
import { describeLock, tryLock } from './lock.mjs';
import { loadSettings, provide, requireServices } from './services.mjs';
import { complain, Failure, note, root, say, step } from './step.mjs';
import { Supervisor } from './supervisor.mjs';
import { watchSources } from './watch.mjs';

const isDevelopment = process.argv.includes('--dev');
const LOCK = path.join(localHome, 'run.json');

async function main() {
  process.chdir(root);
  checkNodeVersion();
  loadSettings();
  requireServices();
  createLocalHome();
  beTheOnlyOne();
  await step(ensureDependencies);
  await step(ensureBuild);
  const processes = ['api', 'worker'].map(
    (name) =>
      new Supervisor({ name, script: `build/src/${name}/main.js`, home: localHome, onGivenUp: giveUp }),
  );
  for (const one of processes) await one.stopLeftover();
  const { port, url } = await chooseAddress();
  const services = await provide({ persistent: true, durable: true });
  const env = { ...process.env, ...services, PORT: String(port) };
  env.MODULE_PAYMENTS_ENABLED ||= 'true'; // whoever tries the service wants to see all of it
  for (const one of processes) one.env = env;
  describeLock(LOCK, { address: url });

  atEnd(() => {
    note('stopping');
    return stopAll(processes);
  });
  await step(() => startAll(processes, url));
  greet(url);
  if (isDevelopment) restartOnChange(processes, url);
  else for (const one of processes) one.restarts = true;
}

function beTheOnlyOne() {
  const { holder } = tryLock(LOCK);
  if (!holder) return;
  const where = holder.address ? `at ${holder.address}` : 'and is just starting';
  throw new Failure(`This checkout already runs ${where} (process ${holder.pid}); stop it there first.`);
}

async function startAll(processes, url) {
  for (const one of processes) one.start();
  await waitUntilReady(url);
  const running = processes.filter((one) => one.isRunning);
  return `ready: ${running.map((one) => one.name).join(' and ')}`;
}

async function stopAll(processes) {
  await Promise.all(processes.map((one) => one.stop()));
}

// While developing, a crash is something to repair in the editor, not the end.
function giveUp(failure) {
  if (isEnding()) return undefined;
  complain(failure);
  if (isDevelopment) return note('waiting for a change');
  return end(1);
}

function restartOnChange(processes, url) {
  let restarted = Promise.resolve();
  const restart = async () => {
    await stopAll(processes);
    await step(() => startAll(processes, url));
  };
  watchSources(() => (restarted = restarted.then(restart).catch(complain)), giveUp);
}

function greet(url) {
  say(`
  Address         ${url}
  Documentation   ${url}/docs
  OpenAPI         ${url}/openapi.json
  Administrator   ${firstAdministrator()}

  Ctrl-C stops everything; the data stays in .local/. "npm run demo" walks an order to "paid".
`);
}

function firstAdministrator() {
  if (process.env.ADMIN_PASSWORD) return 'admin, with the password in ADMIN_PASSWORD';
  if (process.env.NODE_ENV === 'production') return 'admin, with the password logged at the first start';
  return 'admin / admin123';
}

command(main, () => 0);
