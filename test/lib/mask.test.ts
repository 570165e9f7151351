// Secrets in anything that is logged or stored: by the name of a field and by the shape of a text.
import test from 'ava';
import fc from 'fast-check';
import { mask, maskText } from '../../src/lib/secrets/mask.js';

const canary = 'canary-5f0c';
const shapes = {
  token: `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.${'s'.repeat(43)}`,
  'an unsigned token': 'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.',
  hash: `$2b$10$${'a'.repeat(53)}`,
  digest: 'ab'.repeat(32),
  key: `-----BEGIN RSA PRIVATE KEY-----\n${'MIIE'.repeat(400)}\n-----END RSA PRIVATE KEY-----`,
  'a bare key': `${'MIIE'.repeat(400)}==`,
  'a cut key': `-----BEGIN PRIVATE KEY-----\n${'MIIE'.repeat(40)}`,
};

test('fields named like secrets are masked at any depth', (t) => {
  const names = [
    ...[
      'password',
      'old_password',
      'password_confirmation',
      'PASSWD',
      'userPwd',
      'shared_secret',
      'clientSecret',
      'token',
    ],
    ...[
      'access_token',
      'ticket',
      'Authorization',
      'cookie',
      'private_key',
      'privateKey',
      'api_v3_key',
      'apiKey',
      'app_key',
      'apiV2Key',
      'mch_key',
      'mchKey',
      'apiclient_key',
      'access_key',
      'merchantKey',
      'partner_key',
      'sign_key',
      'md5Key',
      'aes_key',
      'encryptKey',
      'key',
    ],
    ...[
      'captcha_code',
      'captcha_answer',
      'sign',
      'signature',
      'pay_sign',
      'cert_serial_no',
      'credentials',
      'jwt',
    ],
  ];
  for (const name of names) {
    for (const value of [canary, [canary], { inner: canary }, 12]) {
      t.deepEqual(
        JSON.parse(JSON.stringify(mask({ a: [{ [name]: value }] }))),
        { a: [{ [name]: '***' }] },
        name,
      );
    }
  }
  const kept = {
    name: 'x',
    token_ids: '41,42',
    assigned: 'x',
    design: 'x',
    status: 0,
    password: null,
    has_shared_secret: true,
    platform_public_key: 'x',
    job_key: 'x',
    storage_key: 'x',
  };
  t.deepEqual(JSON.parse(JSON.stringify(mask(kept))), kept);
});

test('texts that look like secrets are masked anywhere', (t) => {
  for (const [name, secret] of Object.entries(shapes)) {
    t.is(maskText(secret), '***', name);
    t.is(maskText(`before "${secret}" after`).startsWith('before "***'), true, name);
    t.notRegex(
      JSON.stringify(mask({ list: [{ remark: `x ${secret}` }] })),
      new RegExp(secret.slice(-20).replace(/[$.]/g, '\\$&')),
      name,
    );
  }
  const kept = ['eyJust a text', 'ab'.repeat(31), '$2b$ is a prefix', 'a.b.c', '-----BEGIN CERTIFICATE-----'];
  for (const text of kept) t.is(maskText(text), text);
});

test('a secret cut off in a long text is masked too', (t) => {
  for (const [name, secret] of Object.entries(shapes)) {
    for (const before of [1960, 1990, 1999]) {
      const short = maskText(
        `${'x '.repeat(before / 2)}${' '.repeat(before % 2)} ${secret}${' y'.repeat(3000)}`,
      );
      t.true(short.length <= 2001, name);
      t.false(short.includes(secret.slice(0, 12)), `${name} at ${before}`);
    }
  }
});

test('a text made to be slow is masked quickly', (t) => {
  const nasty = [
    'eyJ-'.repeat(250_000),
    `${'eyJaaaaaaaa.'.repeat(80_000)}!`,
    '-----BEGIN '.repeat(90_000),
    'a'.repeat(1_000_000),
    '$2b$10$'.repeat(140_000),
  ];
  // The time is the fact: a pattern that backtracks takes minutes.
  const started = performance.now();
  for (const text of nasty) mask({ list: Array.from({ length: 20 }, () => text) });
  t.true(performance.now() - started < 1500, `${performance.now() - started} ms`);
});

test('no value makes masking fail', (t) => {
  fc.assert(
    fc.property(fc.object({ maxDepth: 12, withNullPrototype: true }), (value) => {
      const before = JSON.stringify(value);
      JSON.stringify(mask(value));
      return JSON.stringify(value) === before;
    }),
  );
  let deep: unknown = canary;
  for (let level = 0; level < 50_000; level++) deep = [deep];
  t.true(JSON.stringify(mask(deep)).length < 100);
  t.is(
    JSON.stringify(mask(JSON.parse('{"__proto__":{"password":"x"}}'))),
    '{"__proto__":{"password":"***"}}',
  );
});
