// deploy/nginx.conf in a real nginx before two APIs; of the file only addresses and paths are replaced.
import '../support/settings/environment.js';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { request, type RequestOptions } from 'node:https';
import { join } from 'node:path';
import test from 'ava';
import { select } from '../../src/lib/database/db.js';
import type { Client } from '../support/client.js';
import { openStream } from '../support/events.js';
import { freePort } from '../support/servers/free-port.js';
import { OwnNginx } from '../support/servers/nginx.js';
import { startApi, type TestProcess } from '../support/processes.js';
import { serviceTest } from '../support/service-test.js';
import { openSocket, ticketOf } from '../support/socket.js';
import { SpanCollector } from '../support/servers/span-collector.js';
import { until } from '../support/until.js';

// The certificate is the test's own.
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';

const mebibyte = 1024 * 1024;
const service = serviceTest();

class Nginx extends OwnNginx {
  readonly url = `https://127.0.0.1:${this.port}`;
  readonly log = join(this.folder, 'access.log');

  /** With a certificate of its own, before these APIs. */
  constructor(port: number, plainPort: number, apis: readonly number[]) {
    super(port);
    const [key, certificate] = [join(this.folder, 'key.pem'), join(this.folder, 'certificate.pem')];
    execFileSync('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'],
      ...['-subj', '/CN=pay.example.com', '-keyout', key, '-out', certificate],
    ]);
    this.install([
      [/^error_log .*$/m, 'error_log stderr warn;'],
      [/access_log \S+/, `access_log ${this.log}`],
      [/listen 80 .*/, `listen 127.0.0.1:${plainPort};`],
      [/listen \[::\]:80 .*/, ''],
      [/listen 443 /, `listen 127.0.0.1:${port} `],
      [/listen \[::\]:443 .*/, ''],
      [/\/etc\/ssl\/back-office\/fullchain\.pem/, certificate],
      [/\/etc\/ssl\/back-office\/privkey\.pem/, key],
      [/127\.0\.0\.1:3000/, `127.0.0.1:${apis[0]}`],
      [/127\.0\.0\.1:3001/, `127.0.0.1:${apis[1]}`],
      [/allow 127\.0\.0\.0\/8/, 'allow 127.0.0.1'],
      // The flood of a slow machine is a flood, too.
      [/rate=200r\/s/, 'rate=1r/s'],
    ]);
  }

  protected override async answers(): Promise<boolean> {
    return (await get(this.port, '/healthz')).status === 200;
  }
}

interface Answered {
  status: number;
  headers: Record<string, unknown>;
  text: string;
}

/** One request over a connection of its own, from an address of this machine. */
function ask(port: number, options: RequestOptions, body = ''): Promise<Answered> {
  return new Promise((done, fail) => {
    const sent = request({ host: '127.0.0.1', port, agent: false, ...options }, (response) => {
      let text = '';
      response.on('data', (piece: Buffer) => (text += piece.toString()));
      response.on('end', () => done({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    sent.on('error', fail);
    sent.end(body);
  });
}

const get = (port: number, path: string, localAddress?: string, headers = {}) =>
  ask(port, { path, headers, ...(localAddress && { localAddress }) });

let nginx: Nginx;
let apis: TestProcess[];
let admin: Client;
let plainPort: number;
let collector: SpanCollector;

test.before(async () => {
  collector = await SpanCollector.open();
  const settings = {
    TRUSTED_PROXIES: '127.0.0.1',
    APP_URL: 'https://pay.example.com',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  };
  apis = await Promise.all([startApi(settings), startApi(settings)]);
  plainPort = await freePort();
  nginx = new Nginx(
    await freePort(),
    plainPort,
    apis.map(({ url }) => Number(new URL(url).port)),
  );
  await nginx.start();
  admin = service.admin.at(nginx.url);
});

test.after.always(async () => {
  // Killed, it would leave its workers behind.
  await nginx?.stop();
  await nginx?.remove();
  collector?.close();
});

test.serial('TLS ends at nginx', async (t) => {
  const answer = await admin.get('/orders');
  t.is(answer.status, 200);
  t.is(answer.headers.get('strict-transport-security'), 'max-age=31536000');
});

test.serial('over plain HTTP pages lead to https and the API is refused', async (t) => {
  const plain = async (path: string): Promise<[number, string | null]> => {
    const answer = await fetch(`http://127.0.0.1:${plainPort}${path}`, { redirect: 'manual' });
    return [answer.status, answer.headers.get('location')];
  };
  for (const page of ['/', '/console', '/console/trade/orders?a=1', '/docs'])
    t.deepEqual(await plain(page), [301, `https://127.0.0.1${page}`]);
  for (const path of [
    '/api/admin/orders',
    '/api/payment/notify/mock',
    '/openapi.json',
    '/ws/admin/notifications',
  ])
    t.deepEqual(await plain(path), [403, null]);
});

test.serial('traces cannot be started from outside', async (t) => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00';
  await admin.get('/orders', { traceparent, 'X-Trace-Id': 'from-the-outside' });
  const span = await until(() =>
    collector.spans.find(({ attributes }) => attributes['back_office.trace_id'] === 'from-the-outside'),
  );
  t.falsy(span.parentSpanId);
});

test.serial('notifications and events pass without buffering', async (t) => {
  const socket = await openSocket(nginx.url, await ticketOf(admin));
  await admin.post('/notifications', { title: 'through nginx', content: 'hello', type: 'announcement' });
  const stream = await openStream(admin, '/dashboard/stream');
  await until(() => stream.events.length >= 2);
  t.is(stream.status, 200);
  await until(() =>
    socket.frames.some((frame) => (frame.data as { title?: string } | null)?.title === 'through nginx'),
  );
  stream.close();
  socket.socket.close();
  t.pass();
});

test.serial('an upload reaches the API while it arrives', async (t) => {
  const incoming = join(process.env.STORAGE_ROOT ?? '', 'incoming');
  const [boundary, half] = ['----boundary', 'x'.repeat(15 * mebibyte)];
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="large.txt"\r\nContent-Type: text/plain\r\n\r\n`;
  const tail = `\r\n--${boundary}--\r\n`;
  const answered = new Promise<number>((done, fail) => {
    const sent = request(
      {
        ...{ host: '127.0.0.1', port: nginx.port, agent: false, method: 'POST' },
        path: '/api/admin/attachments/upload',
        headers: {
          ...admin.headers,
          'Content-Type': `multipart/form-data; boundary=${boundary}`,
          'Content-Length': head.length + 2 * half.length + tail.length,
        },
      },
      (response) => {
        response.resume();
        done(response.statusCode ?? 0);
      },
    );
    sent.on('error', fail);
    sent.write(head + half);
    // The rest is only sent when the first half is known to have arrived.
    void until(() => existsSync(incoming) && readdirSync(incoming).length > 0).then(
      () => sent.end(half + tail),
      fail,
    );
  });
  t.is(await answered, 200);
  const tooLarge = await ask(nginx.port, {
    method: 'POST',
    path: '/api/admin/attachments/upload',
    headers: { ...admin.headers, 'Content-Length': 211 * mebibyte },
  });
  t.is(tooLarge.status, 413);
  t.like(JSON.parse(tooLarge.text), { code: 413, message: '请求体过大', error_code: 'payload_too_large' });
});

test.serial('the client address is that of the connection', async (t) => {
  const body = JSON.stringify({ username: 'nobody-through-nginx', password: 'wrong-password' });
  await ask(
    nginx.port,
    {
      ...{ method: 'POST', path: '/api/admin/login', localAddress: '127.0.0.2' },
      headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': '203.0.113.66' },
    },
    body,
  );
  const [row] = await until(async () => {
    const rows = await select<{ ip: string }>('SELECT ip FROM login_logs WHERE username = ?', [
      'nobody-through-nginx',
    ]);
    return rows.length > 0 ? rows : undefined;
  });
  t.is(row?.ip, '127.0.0.2');
});

test.serial('health checks are answered to the own network only', async (t) => {
  t.is((await get(nginx.port, '/readyz')).status, 200);
  for (const path of ['/readyz', '/healthz/', '/ReadyZ'])
    t.is((await get(nginx.port, path, '127.0.0.2')).status, 403, path);
});

test.serial('a flood from one address does not affect others', async (t) => {
  const flood = await Promise.all(
    Array.from({ length: 400 }, () =>
      get(nginx.port, '/api/admin/login/captcha', '127.0.0.3').catch(() => undefined),
    ),
  );
  const refused = flood.find((answer) => answer?.status === 429);
  t.is(refused?.headers['retry-after'], '1');
  t.is(refused?.headers['content-type'], 'application/json; charset=utf-8');
  const answer = JSON.parse(refused?.text ?? '') as Record<string, unknown>;
  t.like(answer, {
    code: 429,
    message: '请求过于频繁，请稍后再试',
    data: null,
    error_code: 'too_many_requests',
  });
  t.is((await get(nginx.port, '/api/admin/orders', '127.0.0.4', admin.headers)).status, 200);
});

test.serial('many people behind one address open the console at once', async (t) => {
  const visits = await Promise.all(
    Array.from({ length: 400 }, (_, count) => get(nginx.port, `/console/assets/${count}.js`, '127.0.0.5')),
  );
  t.deepEqual([...new Set(visits.map(({ status }) => status))], [404]);
  t.is((await get(nginx.port, '/api/admin/orders', '127.0.0.5', admin.headers)).status, 200);
});

test.serial('the access log has the trace id without the query', async (t) => {
  await get(nginx.port, '/api/admin/orders?secret=of-the-query', undefined, {
    ...admin.headers,
    'X-Trace-Id': 'trace-through-nginx',
  });
  const text = await until(() => {
    const log = readFileSync(nginx.log, 'utf8');
    return log.includes('trace-through-nginx') ? log : undefined;
  });
  t.false(text.includes('of-the-query'));
});

test.serial('without one API the other answers every request', async (t) => {
  await apis[0]?.kill();
  const answers = await Promise.all(Array.from({ length: 50 }, () => admin.get('/orders?page_size=1')));
  t.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
});

test.serial('without an API nginx answers as the service would', async (t) => {
  await Promise.all(apis.map((api) => api.kill()));
  const answer = await get(nginx.port, '/api/admin/orders');
  t.is(answer.status, 503);
  t.is(answer.headers['content-type'], 'application/json; charset=utf-8');
  t.is(answer.headers['retry-after'], '2');
  t.like(JSON.parse(answer.text), { code: 503, data: null, error_code: 'service_unavailable' });
});
