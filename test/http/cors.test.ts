// Cross-origin requests: CORS_ORIGINS names who may call.
import '../support/shared-environment.js';
import test from 'ava';
import type { Client } from '../support/client.js';
import { killProcesses, startApi } from '../support/processes.js';
import { service } from '../support/shared-service.js';

let configured: Client;

test.before(async () => {
  const { url } = await startApi({
    CORS_ORIGINS: 'https://a.example, https://b.example:8443',
  });
  configured = service.admin.at(url);
});

test.after.always(killProcesses);

test('only pages of the configured origins may call', async (t) => {
  const preflight = (Origin: string) =>
    fetch(`${configured.url}/api/admin/login`, {
      method: 'OPTIONS',
      headers: {
        Origin,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'authorization,content-type',
      },
    });
  for (const origin of ['https://a.example', 'https://b.example:8443']) {
    const { status, headers } = await preflight(origin);
    t.is(status, 204);
    t.is(headers.get('Access-Control-Allow-Origin'), origin);
    t.regex(headers.get('Access-Control-Allow-Methods') ?? '', /POST/);
    t.regex(headers.get('Access-Control-Allow-Headers') ?? '', /Authorization/i);
    const refused = await configured.with({ Authorization: '' }).post('/login', {}, { Origin: origin });
    t.deepEqual(
      [refused.status, refused.headers.get('Access-Control-Allow-Origin')],
      [400, origin],
      'failures too',
    );
    t.regex(refused.headers.get('Vary') ?? '', /Origin/);
  }
  const foreign = ['https://a.example.evil', 'https://b.example', 'http://a.example', 'null'];
  for (const origin of foreign) {
    t.is((await preflight(origin)).headers.get('Access-Control-Allow-Origin'), null, origin);
    t.is(
      (await configured.get('/heartbeat', { Origin: origin })).headers.get('Access-Control-Allow-Origin'),
      null,
      origin,
    );
  }
  t.is(
    (await service.admin.get('/heartbeat', { Origin: 'https://a.example' })).headers.get(
      'Access-Control-Allow-Origin',
    ),
    null,
  );
});
