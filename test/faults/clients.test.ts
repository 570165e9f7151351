// No single client blocks the process for others: neither by a very long query nor by an event stream it stops reading.
import '../support/settings/environment.js';
import { once } from 'node:events';
import { connect } from 'node:net';
import test from 'ava';
import { Client } from '../support/client.js';
import { startApi, type TestProcess } from '../support/processes.js';
import { processesTest } from '../support/processes-test.js';
import { until } from '../support/until.js';

let api: TestProcess;

processesTest();

// Runs in the API process: fills what the system buffers for the client with comments, which would take a stream's own events
// many minutes, until the process itself holds bytes back.
const filler = `
  import { subscribe } from 'node:diagnostics_channel';
  subscribe('http.server.request.start', ({ request, response }) => {
    if (!request.url.includes('/stream')) return;
    const filling = setInterval(() => {
      if (!response.headersSent || response.writableEnded) return;
      while (response.writableLength === 0) response.write(': ' + 'x'.repeat(64 * 1024) + '\\n\\n');
      process.stdout.write('bytes are held back\\n');
    }, 100);
    response.once('close', () => {
      clearInterval(filling);
      process.stdout.write('the stream is closed\\n');
    });
  });
`;

test.before(async () => {
  api = await startApi({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(filler)}` });
});

test.serial('a query string of 7,500 names is parsed at once', async (t) => {
  const times: number[] = [];
  for (let turn = 0; turn < 5; turn++) {
    const begun = performance.now();
    const { status } = await fetch(`${api.url}/nowhere?${'a&'.repeat(7500)}`);
    times.push(performance.now() - begun);
    t.is(status, 404);
  }
  // It took over a second; the best of five says what it takes when the machine has time.
  t.true(Math.min(...times) < 150, `${times.map(Math.round).join(', ')} ms`);
});

test.serial(
  'a client that does not read is disconnected after its session has ended, and the API still answers',
  async (t) => {
    const admin = await new Client(api.url).signIn();
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(api.url).port) });
    socket.pause().on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(
      `GET /api/admin/monitor/system-info/stream?interval=1 HTTP/1.1\r\nHost: a\r\nAuthorization: ${admin.headers.Authorization}\r\n\r\n`,
    );
    const begun = Date.now();
    await until(() => api.output().includes('bytes are held back'));
    // So that the heartbeat after 15 s finds a stream that has ended and waits for its client.
    await until(() => Date.now() - begun > 12_000);
    t.false(api.output().includes('the stream is closed'));
    t.is((await admin.post('/logout')).status, 200);
    await until(() => api.output().includes('the stream is closed') || api.child.exitCode !== null);
    t.true(Date.now() - begun > 15_000);
    t.is(api.child.exitCode, null, api.output());
    t.is((await new Client(api.url).get('//healthz')).status, 200);
    socket.destroy();
  },
);
