// `npm run build`: the service and its console (build/console/), each only when its sources or the contract have changed.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { ensureBuild, filesIn, hashOf } from './build.mjs';
import { atEnd, command, isMain } from './lifetime.mjs';
import { createLocalHome } from './local-home.mjs';
import { withLock } from './lock.mjs';
import { run } from './process.mjs';
import { root, say, step } from './step.mjs';

const PAGE = path.join(root, 'build/console/index.html');
const DOCUMENT = 'build/openapi.json';
const SOURCES_MARKER = path.join(root, 'build/.console-sources');
const CONTRACT_MARKER = path.join(root, 'build/.console-contract');
const GENERATED = 'console/src/contract/generated/';
const VITE = path.join(root, 'node_modules/vite/bin/vite.js');
const SOURCE = /\.(tsx?|mjs|css|html|svg|json)$/;

/** Builds the console if need be; answers what was done as a sentence. The service must be compiled. */
export function ensureConsole() {
  return withLock('console', async () => {
    if (process.env.CONSOLE_ENABLED === 'false') return 'the console is switched off';
    const own = consoleSources();
    const sources = hashOf([...own, ...filesIn('.', '.ts', ['config', 'src'])]);
    const isBuilt = existsSync(PAGE);
    if (isBuilt && textOf(SOURCES_MARKER) === sources) return 'console is current';
    await writeContract();
    const contract = hashOf([...own, DOCUMENT]);
    const isCurrent = isBuilt && textOf(CONTRACT_MARKER) === contract;
    if (!isCurrent) await run(process.execPath, [VITE, 'build', 'console'], { name: 'vite', cwd: root });
    writeFileSync(CONTRACT_MARKER, contract);
    writeFileSync(SOURCES_MARKER, sources);
    return isCurrent ? 'console is current' : 'console built';
  });
}

/** Writes the OpenAPI document of the compiled service. */
export async function writeDocument() {
  const env = { ...process.env, NODE_ENV: 'development' };
  const print = ['build/src/api/print-openapi.js'];
  const text = await run(process.execPath, print, { name: 'the OpenAPI document', env, cwd: root });
  const whole = `${DOCUMENT}.${process.pid}`; // another run may be reading it
  writeFileSync(whole, text);
  renameSync(whole, DOCUMENT);
}

/** Writes what the console knows of the API; its sources cannot be checked without. */
async function writeContract() {
  await writeDocument();
  await run(process.execPath, ['console/build/contract.mjs', DOCUMENT], { name: 'the contract', cwd: root });
}

/** Serves the sources with hot reload, calls of the API going to that service. @param {string} serviceUrl */
export async function serveConsole(serviceUrl) {
  process.env.SERVICE_URL = serviceUrl;
  const { createServer } = await import('vite');
  const server = await createServer({ root: path.join(root, 'console'), logLevel: 'warn' });
  await server.listen();
  atEnd(() => server.close());
  say(`  Console with hot reload: ${server.resolvedUrls?.local[0] ?? ''}\n`);
}

const consoleSources = () => [
  'package-lock.json',
  ...filesIn('.', '', ['console']).filter(
    (file) => SOURCE.test(file) && !file.startsWith(GENERATED) && !file.includes('node_modules'),
  ),
];

/** @param {string} file */
const textOf = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);

async function main() {
  process.chdir(root);
  createLocalHome();
  await step(ensureBuild);
  await step(process.argv.includes('--contract') ? describeContract : ensureConsole);
  return 0;
}

async function describeContract() {
  await writeContract();
  return `contract written to ${GENERATED}`;
}

if (isMain(import.meta)) command(main);
