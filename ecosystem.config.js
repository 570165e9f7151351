// PM2 in production: what deploy/release.mjs starts and reloads.
// TENANTS=acme,globex:3105 runs a set of processes for each of these tenants instead, at PORT, PORT + 1, … unless a port is
// given.
// In an ESM package PM2 reads only the named export `apps`; a default export would start nothing.
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { parseEnv } from 'node:util';

// The settings of this file are read from .env, too: a reload from another shell must not forget them.
const file = path.join(import.meta.dirname, '.env');
// Windows puts a mark before it; Node.js 20 takes an indented comment for a part of the next name.
const text = existsSync(file) ? readFileSync(file, 'utf8').replace(/^\uFEFF|^[ \t]+#.*/gm, '') : '';
const settings = { ...parseEnv(text), ...process.env };

// The other half of the cores serves the workers, the database and Redis: on two cores, two instances are slower than one.
const API_INSTANCES = Number(settings.API_INSTANCES) || Math.max(1, Math.floor(availableParallelism() / 2));
const FIRST_PORT = Number(settings.PORT || 3000);
// Of /metrics, /healthz and /readyz: the API's instances count on from here, the workers from 50 more; each tenant has 100.
const FIRST_METRICS_PORT = Number(settings.METRICS_PORT || 9300);

// Both processes end by themselves within 10 s of SIGTERM; PM2 must not be quicker.
const KILL_TIMEOUT_MS = 12_000;
// A start may wait for a long migration. An instance is stopped when its successor is ready, or after this time all the same:
// until then settings that keep the successor from it can be mended.
const LISTEN_TIMEOUT_MS = 3_600_000;

// PM2 keeps the folder of the first start. Releases lie side by side in releases/, and the link current, beside it, leads to
// the one that runs: so that a reload takes the new one, it is the link that PM2 is told.
const link = path.resolve(import.meta.dirname, '../../current');
const isRelease = path.basename(path.dirname(import.meta.dirname)) === 'releases' && existsSync(link);

const common = {
  cwd: isRelease ? link : import.meta.dirname,
  kill_timeout: KILL_TIMEOUT_MS,
  // A reload replaces one instance after the other, each only when the new one says process.send('ready').
  wait_ready: true,
  listen_timeout: LISTEN_TIMEOUT_MS,
  exp_backoff_restart_delay: 200,
  // Settings that cannot be used (config/refusal.ts) do not mend themselves; the list of them is in the log.
  stop_exit_codes: [78],
  merge_logs: true,
  // An API under 1,000 connections was seen at 475 MB.
  max_memory_restart: '1G',
};

const worker = (name, queues, metricsPort) => ({
  ...common,
  name,
  env: { METRICS_PORT: String(metricsPort) },
  script: 'build/src/worker/main.js',
  args: `--queues ${queues}`,
  exec_mode: 'fork',
  instances: 1,
});

const processes = (metricsPort) => [
  {
    ...common,
    name: 'api',
    env: { METRICS_PORT: String(metricsPort) },
    script: 'build/src/api/main.js',
    exec_mode: 'cluster',
    instances: API_INSTANCES,
  },
  // Money, logs and notifications must never wait behind a large export.
  worker('worker-quick', 'payments,channels,logs,notifications', metricsPort + 50),
  worker('worker-bulk', 'exports,imports,files,maintenance', metricsPort + 51),
];

/** The tenants of TENANTS, each with the port of its API. */
function readTenants(text = '') {
  const entries = text.split(',').filter((entry) => entry.trim() !== '');
  const tenants = entries.map((entry, index) => {
    const [code, port = FIRST_PORT + index] = entry.trim().split(':');
    return { code, port: Number(port) };
  });
  for (const { code, port } of tenants) {
    const isGood = /^[a-z0-9][a-z0-9-]{0,31}$/.test(code) && Number.isInteger(port) && port > 0;
    const twins = tenants.filter((other) => other.code === code || other.port === port);
    if (!isGood || twins.length > 1) throw new Error(`TENANTS: "${code}:${port}" is wrong or named twice`);
  }
  return tenants;
}

const tenants = readTenants(settings.TENANTS);

const ofTenant = ({ code, port }, index) =>
  processes(FIRST_METRICS_PORT + 100 * index).map((one) => ({
    ...one,
    name: `${one.name}-${code}`,
    env: { ...one.env, NODE_ENV: 'production', TENANT_CODE: code, PORT: String(port) },
  }));

export const apps =
  tenants.length > 0
    ? tenants.flatMap(ofTenant)
    : processes(FIRST_METRICS_PORT).map((one) => ({ ...one, env: { ...one.env, NODE_ENV: 'production' } }));
