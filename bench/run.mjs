// `npm run bench -- NAME [arguments]`: build/bench/NAME.js against throw-away services with durable commits.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';

import { atEnd, command, refuseWhenEnding } from '../bin/lifetime.mjs';
import { ensureNeeds } from '../bin/needs.mjs';
import { prepare } from '../bin/prepare.mjs';
import { sendToGroup } from '../bin/process.mjs';
import { Failure, root } from '../bin/step.mjs';

command(async () => {
  const [name = '', ...args] = process.argv.slice(2);
  if (!existsSync(path.join(root, 'bench', `${name}.ts`)))
    throw new Failure(`There is no benchmark "${name}"; docs/measurements.md names them`);
  // Durable means the real disk: a commit that only reaches memory would flatter every figure.
  const services = await prepare({ durable: true });
  if (name === 'hostile') await ensureNeeds(['nginx']);
  const storage = path.join(services.home, 'storage');
  const env = { LOG_LEVEL: 'warn', STORAGE_ROOT: storage, ...process.env, ...services.env };
  refuseWhenEnding();
  const bench = spawn(process.execPath, [path.join(root, 'build/bench', `${name}.js`), ...args], {
    env,
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  atEnd(() => sendToGroup(bench.pid, 'SIGKILL'));
  const [code] = await once(bench, 'close');
  return code ?? 1;
});
