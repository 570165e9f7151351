// The service that test files share: an API and a worker. It starts when the first file asks for it, over a socket in the
// directory of the run.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';

import { atEnd } from './lifetime.mjs';
import { stopProcess } from './process.mjs';
import { messageOf } from './step.mjs';

/** @typedef {import('node:child_process').ChildProcess} ChildProcess */

// In the folder that AVA runs in, which has a build of its own when faults are planted.
/** @param {string} file */
const built = (file) => path.resolve('build', file);

/**
 * Offers the service to the test files that get these settings.
 *
 * @param {NodeJS.ProcessEnv} settings of the run
 * @returns {{ SHARED_SERVICE: string }} the name of its database, which `settingsOf` takes, and of its socket
 */
export function offerService(settings) {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const home = settings.THROW_AWAY_HOME ?? '';
  /** @type {ChildProcess[]} */
  let children = [];
  let builtAt = 0;
  /** @type {Promise<string>} */
  let answer;

  async function start() {
    await stop(children);
    const { settingsOf } = await import(built('test/support/settings/settings.js'));
    const { freePort } = await import(built('test/support/servers/free-port.js'));
    const PORT = String(await freePort(home));
    const env = { ...settings, ...settingsOf(name, settings) };
    children = [startProcess('api', { ...env, PORT }), startProcess('worker', env)];
    await Promise.all(children.map(untilReady));
    return JSON.stringify({ url: `http://127.0.0.1:${PORT}` });
  }

  const server = createServer((socket) => {
    socket.on('error', () => {});
    // With --watch it is compiled again and again.
    const { mtimeMs } = statSync(built('.tsbuildinfo'));
    if (mtimeMs !== builtAt) answer = start();
    builtAt = mtimeMs;
    void answer.catch(messageOf).then((text) => socket.end(text));
  });
  server.listen(path.join(home, `${name}.sock`)).unref();
  // They hold standard error, whose end the parent of AVA awaits.
  process.once('exit', () => children.forEach((child) => child.kill('SIGKILL')));
  atEnd(async () => {
    await stop(children);
    if (children.length > 0) await dropDatabase(name, settings);
  });
  return { SHARED_SERVICE: name };
}

/** @param {'api' | 'worker'} name @param {NodeJS.ProcessEnv} env */
function startProcess(name, env) {
  const child = spawn(process.execPath, [built(`src/${name}/main.js`)], {
    env,
    stdio: ['ignore', 2, 2, 'ipc'], // standard output may be TAP
  });
  child.unref();
  return child;
}

/** @param {ChildProcess} child */
async function untilReady(child) {
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the shared service cannot start')));
  await Promise.race([once(child, 'message'), ended]);
  child.channel?.unref();
}

// What a killed process has run is missing in the coverage report.
/** @param {ChildProcess[]} children */
async function stop(children) {
  const signal = process.env.NODE_V8_COVERAGE ? 'SIGTERM' : 'SIGKILL';
  await Promise.all(children.flatMap(({ pid }) => (pid ? [stopProcess(pid, { signal })] : [])));
}

// A configured server outlives the run.
/** @param {string} name @param {NodeJS.ProcessEnv} settings */
async function dropDatabase(name, { DB_HOST: host, DB_PORT: port, DB_USER: user, DB_PASSWORD: password }) {
  const { createConnection } = await import('mysql2/promise'); // a bare clone has no packages yet
  const connection = await createConnection({ host, port: Number(port), user, password });
  await connection.query('DROP DATABASE IF EXISTS ??', [name]);
  await connection.end();
}
