// Checks the import rule; also fails if suspiciously few modules were found.
import { spawnSync } from 'node:child_process';

import { root } from './step.mjs';

const MIN_MODULES = 80;
const CRUISER = 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs';

const { status, stdout } = spawnSync(process.execPath, [CRUISER, 'config', 'src', 'console/src'], {
  cwd: root,
  stdio: ['ignore', 'pipe', 'inherit'],
  encoding: 'utf8',
});
process.stdout.write(stdout);
const modules = Number(/(\d+) modules/.exec(stdout)?.[1] ?? 0);
if (modules < MIN_MODULES) process.stdout.write(`expected at least ${MIN_MODULES} modules\n`);
process.exitCode = status || modules < MIN_MODULES ? 1 : 0;
