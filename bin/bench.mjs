// `npm run bench:NAME`: runs build/bench/NAME.js against throw-away services with durable commits.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';

import { atEnd, command, refuseWhenEnding } from './lifetime.mjs';
import { prepare, SIGNAL_EXIT_CODES } from './prepare.mjs';
import { send } from './process.mjs';
import { Failure, root } from './step.mjs';

async function main() {
  const [name, ...args] = process.argv.slice(2);
  if (!/^[a-z][a-z-]*$/.test(name ?? '')) throw new Failure('Which benchmark? node bin/bench.mjs NAME');
  // Durable means the real disk: a commit that only reaches memory would flatter every figure.
  const services = await prepare({ durable: true });
  const script = path.join(root, 'build/bench', `${name}.js`);
  if (!existsSync(script)) throw new Failure(`There is no benchmark bench/${name}.ts`);
  const storage = path.join(services.THROW_AWAY_HOME, 'storage');
  const env = { LOG_LEVEL: 'warn', STORAGE_ROOT: storage, ...process.env, ...services };
  refuseWhenEnding();
  const bench = spawn(process.execPath, [script, ...args], { env, detached: true, stdio: 'inherit' });
  atEnd(() => send(-bench.pid, 'SIGKILL'));
  const [code] = await once(bench, 'exit');
  return code ?? 1;
}

command(main, (signal) => SIGNAL_EXIT_CODES[signal]);
