// `npm run bench [-- names]`: all benchmarks within 15 minutes, and one report with machine, versions and tables.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { atEnd, command, refuseWhenEnding } from './lifetime.mjs';
import { prepare } from './prepare.mjs';
import { sendToGroup } from './process.mjs';
import { root, say } from './step.mjs';

/** Their sizes, where they take one: orders, rows, orders over all months. */
const BENCHES = [
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
  const parts = [heading(new Date())];
  const services = await prepare({ durable: true });
  const storage = path.join(services.home, 'storage');
  const env = { LOG_LEVEL: 'warn', STORAGE_ROOT: storage, ...process.env, ...services.env };
  const folder = path.join(root, 'build/bench/reports');
  mkdirSync(folder, { recursive: true });
  const wanted = process.argv.slice(2);
  const chosen = BENCHES.filter(([name = '']) => wanted.length === 0 || wanted.includes(name));
  let failed = 0;
  for (const [name = '', ...args] of chosen) {
    const { code, tables } = await run(name, args, env);
    if (code !== 0) failed++;
    const title = `## bench:${[name, ...args].join(' ')}${code === 0 ? '' : ' (failed)'}`;
    parts.push(`${title}\n\n\`\`\`text\n${tables.trim()}\n\`\`\``);
    writeFileSync(path.join(folder, 'latest.md'), `${parts.join('\n\n')}\n`);
  }
  say('\nreport: build/bench/reports/latest.md');
  return failed === 0 ? 0 : 1;
});

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

/** Runs one to its end and shows what it prints. @param {string} name @param {string[]} args @param {NodeJS.ProcessEnv} env */
async function run(name, args, env) {
  refuseWhenEnding();
  const script = path.join(root, 'build/bench', `${name}.js`);
  const bench = spawn(process.execPath, [script, ...args], {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = () => sendToGroup(bench.pid, 'SIGKILL');
  atEnd(kill);
  const late = setTimeout(kill, MAX_SECONDS_EACH * 1000);
  let printed = '';
  bench.stdout.on('data', (chunk) => {
    process.stdout.write(chunk);
    printed += chunk;
  });
  const [code] = await once(bench, 'close');
  clearTimeout(late);
  const from = printed.indexOf(`\nbench:${name}`);
  return { code: code ?? 1, tables: from < 0 ? printed.slice(-2000) : printed.slice(from) };
}
