// Checks the import rule and fails also when suspiciously few modules were looked at.
import { execFileSync } from 'node:child_process';

import { root } from './step.mjs';

const LEAST_MODULES = 80;

const output = execFileSync(
  process.execPath,
  ['node_modules/dependency-cruiser/bin/dependency-cruise.mjs', 'config', 'src', '--output-type', 'json'],
  { cwd: root, maxBuffer: 1e9, stdio: ['ignore', 'pipe', 'inherit'] },
);
const { summary, modules } = JSON.parse(output);
const own = modules.filter(({ source }) => /^(config|src)\//.test(source)).length;
for (const { rule, from, to } of summary.violations) process.stdout.write(`${rule.name}: ${from} → ${to}\n`);
process.stdout.write(
  `${own} modules, ${summary.totalDependenciesCruised} imports, ${summary.error} violations\n`,
);
if (own < LEAST_MODULES) process.stdout.write(`expected at least ${LEAST_MODULES} modules\n`);
process.exitCode = summary.error > 0 || own < LEAST_MODULES ? 1 : 0;
