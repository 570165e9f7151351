// PM2 in production: `pm2 start ecosystem.config.js`, `pm2 reload ecosystem.config.js` after an upgrade.
// In an ESM package PM2 reads only the named export `apps`; a default export would start nothing.
const API_INSTANCES = Number(process.env.API_INSTANCES ?? 2);

// Both processes end by themselves within 10 s of SIGTERM; PM2 must not be quicker.
const KILL_TIMEOUT_MS = 12_000;
const LISTEN_TIMEOUT_MS = 60_000; // the first start migrates before it listens

const common = {
  cwd: import.meta.dirname,
  kill_timeout: KILL_TIMEOUT_MS,
  // A reload replaces one instance after the other, each only when the new one says process.send('ready').
  wait_ready: true,
  listen_timeout: LISTEN_TIMEOUT_MS,
  exp_backoff_restart_delay: 200,
  merge_logs: true,
  env: { NODE_ENV: 'production' },
};

const worker = (name, queues, memory, nodeArgs) => ({
  ...common,
  name,
  script: 'build/src/worker/main.js',
  args: `--queues ${queues}`,
  exec_mode: 'fork',
  instances: 1,
  max_memory_restart: memory,
  node_args: nodeArgs,
});

export const apps = [
  {
    ...common,
    name: 'api',
    script: 'build/src/api/main.js',
    exec_mode: 'cluster',
    instances: API_INSTANCES,
    max_memory_restart: '512M',
  },
  // Money, logs and notifications must never wait behind a large export.
  worker('worker-quick', 'payments,logs,notifications', '512M'),
  // Told that its heap is small, V8 collects what imports and exports leave behind early: 140 MB instead of 220.
  worker('worker-bulk', 'exports,imports,files,maintenance', '1G', '--max-old-space-size=512'),
];
