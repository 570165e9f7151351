// `npm run bench [-- name arguments]`: build/bench/<name>.js against throw-away services with durable commits. Without
// a name all of them within 15 minutes, and one report with machine, versions and tables.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { ensureConsole } from './console.mjs';
import { atEnd, command, refuseWhenEnding } from './lifetime.mjs';
import { prepare } from './prepare.mjs';
import { run, sendToGroup } from './process.mjs';
import { Failure, root, say, step } from './step.mjs';

/** Their sizes, where they take one: orders, rows, orders over all months. */
const ALL = [
  ['callback'],
  ['writes'],
  ['http', '100000'],
  ['realtime'],
  ['export', '100000'],
  ['import', '100000'],
  ['months', '300000'],
];
/** None of them may keep the others waiting. */
const MAX_SECONDS_EACH = 240;

command(async () => {
  const [name, ...args] = process.argv.slice(2);
  if (name && !existsSync(path.join(root, 'bench', `${name}.ts`)))
    throw new Failure(`There is no benchmark "${name}"`);
  // Durable means the real disk: a commit that only reaches memory would flatter every figure.
  const services = await prepare({ durable: true });
  if (name === 'hostile') await run(process.execPath, [path.join(root, 'bin/needs.mjs'), 'nginx']);
  if (name === 'console') {
    await run(process.execPath, [path.join(root, 'bin/chromium.mjs')]);
    await step(ensureConsole);
  }
  const storage = path.join(services.home, 'storage');
  const env = { LOG_LEVEL: 'warn', STORAGE_ROOT: storage, ...process.env, ...services.env };
  return name ? (await measure(name, args, env)).code : measureAll(env);
});

/** @param {NodeJS.ProcessEnv} env @returns {Promise<number>} the exit code */
async function measureAll(env) {
  const parts = [heading(new Date())];
  const folder = path.join(root, 'build/bench/reports');
  mkdirSync(folder, { recursive: true });
  let failed = 0;
  for (const [name = '', ...args] of ALL) {
    const { code, tables } = await measure(name, args, env, MAX_SECONDS_EACH);
    if (code !== 0) failed++;
    const title = `## bench ${[name, ...args].join(' ')}${code === 0 ? '' : ' (failed)'}`;
    parts.push(`${title}\n\n\`\`\`text\n${tables.trim()}\n\`\`\``);
    writeFileSync(path.join(folder, 'latest.md'), `${parts.join('\n\n')}\n`);
  }
  say('\nreport: build/bench/reports/latest.md');
  return failed === 0 ? 0 : 1;
}

/** @param {Date} startedAt */
function heading(startedAt) {
  const [cpu] = os.cpus();
  const memory = `${Math.round(os.totalmem() / 1e9)} GB`;
  const load = os.loadavg().map((one) => one.toFixed(1));
  return [
    `# Benchmarks of ${startedAt.toISOString().slice(0, 16)}Z`,
    `${os.availableParallelism()} × ${cpu?.model}, ${memory}, ${os.type()} ${os.release()}, Node.js ${process.version}; load before: ${load.join(', ')}.`,
    'A ratio is ours against a baseline of the same run; "cpu each" is processor time for one request.',
  ].join('\n\n');
}

/**
 * Runs one to its end, or for so long, and shows what it prints.
 *
 * @param {string} name @param {string[]} args @param {NodeJS.ProcessEnv} env @param {number} [maxSeconds]
 */
async function measure(name, args, env, maxSeconds) {
  refuseWhenEnding();
  const script = path.join(root, 'build/bench', `${name}.js`);
  const bench = spawn(process.execPath, [script, ...args], {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = () => sendToGroup(bench.pid, 'SIGKILL');
  atEnd(kill);
  const late = maxSeconds && setTimeout(kill, maxSeconds * 1000);
  let printed = '';
  bench.stdout.on('data', (chunk) => {
    process.stdout.write(chunk);
    printed += chunk;
  });
  const [code] = await once(bench, 'close');
  if (late) clearTimeout(late);
  const from = printed.indexOf(`\nbench:${name}`);
  return { code: code ?? 1, tables: from < 0 ? printed.slice(-2000) : printed.slice(from) };
}
