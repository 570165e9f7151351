// Two APIs at one port, as PM2 runs them: this process distributes the connections, restarts an API that has ended, and sends the
// pid of each that is ready. A number blocks this process for so many milliseconds, like a busy one.
import cluster from 'node:cluster';
import { config } from '../../../config/index.js';

function start(): void {
  const worker = cluster.fork();
  worker.once('message', () => process.send?.(worker.process.pid));
}

cluster.setupPrimary({ exec: `${config.root}/build/src/api/main.js` });
cluster.on('exit', start);
start();
start();

process.on('message', (ms: number) => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
});
