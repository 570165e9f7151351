// Values by themselves: times, amounts, addresses, names of files, cells of sheets, secrets in texts, and which hosts are asked.
// Most facts hold for any input; what a request does with them, test/http, test/files and test/trade say.
import '../support/settings/environment.js';
import dns, { type LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import test from 'ava';
import fc from 'fast-check';
import { daysBack, inZone, monthsBack, readTime } from '../../src/lib/values/time.js';
import { toJson } from '../../src/lib/values/json.js';
import { Money } from '../../src/lib/values/money.js';
import { canonicalIp } from '../../src/lib/values/ip.js';
import { ipNumber, parseRange } from '../../src/lib/values/ip-range.js';
import { ChannelFailure } from '../../src/lib/channels/channel.js';
import { requestGateway, isGatewayUrl } from '../../src/lib/channels/gateway.js';
import { AppError } from '../../src/lib/errors/app-error.js';
import { checkedCharset } from '../../src/lib/files/file-content.js';
import { kindOf, type FileKind } from '../../src/lib/files/file-kinds.js';
import { cleanFilename, extensionOf } from '../../src/lib/files/filename.js';
import { neutralise, restore } from '../../src/lib/sheets/sheet.js';
import { mask, maskText } from '../../src/lib/secrets/mask.js';
import { docx, mp4, png, textOf } from '../support/files.js';

test('a time with an offset or in its zone is read as its instant', (t) => {
  const zones = ['UTC', 'Asia/Shanghai', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Apia'];
  const [min, max] = [new Date('2000-01-01T00:00:00Z'), new Date('2099-12-31T23:59:59.999Z')];
  fc.assert(
    fc.property(fc.date({ min, max, noInvalidDate: true }), fc.constantFrom(...zones), (at, zone) => {
      const written = inZone(at, zone);
      return (
        readTime(written, 'Europe/Paris')?.getTime() === at.getTime() &&
        new Date(written).getTime() === at.getTime()
      );
    }),
  );
  t.is(readTime('2026-11-21 08:00:00', 'Asia/Shanghai')?.toISOString(), '2026-11-21T00:00:00.000Z');
  t.is(readTime('2026-11-21T08:00:00.5Z')?.toISOString(), '2026-11-21T08:00:00.500Z');
  t.is(readTime('2026-11-21T08:00:00.123456789+08:00')?.toISOString(), '2026-11-21T00:00:00.123Z');
  t.is(readTime('2026-11-21T08:00:00.Z'), undefined);
  t.is(readTime('2026-11-21T08:00:00.1234567890Z'), undefined);
});

test('a bare date is the first or last millisecond of its day', (t) => {
  const hours = (day: string, zone: string): number =>
    ((readTime(day, zone, 'end') as Date).getTime() + 1 - (readTime(day, zone, 'start') as Date).getTime()) /
    3_600_000;
  t.is(hours('2026-11-21', 'UTC'), 24);
  t.is(hours('2026-03-08', 'America/New_York'), 23);
  t.is(hours('2026-11-01', 'America/New_York'), 25);
  // Clocks are put back from midnight.
  t.is(hours('2026-10-29', 'Africa/Cairo'), 25);
  t.is(hours('2026-04-04', 'America/Santiago'), 25);
  // They are put forward to midnight.
  t.is(hours('2026-03-28', 'America/Nuuk'), 23);
});

test('an end in an hour that comes twice is its last one', (t) => {
  const ofNewYork = (text: string, edge: 'start' | 'end') =>
    readTime(text, 'America/New_York', edge)?.toISOString();
  t.is(ofNewYork('2026-11-01 00:59:59', 'end'), '2026-11-01T04:59:59.999Z');
  t.is(ofNewYork('2026-11-01 01:00:00', 'start'), '2026-11-01T05:00:00.000Z');
  t.is(ofNewYork('2026-11-01 01:59:59', 'end'), '2026-11-01T06:59:59.999Z');
  t.is(ofNewYork('2026-11-01 02:00:00', 'start'), '2026-11-01T07:00:00.000Z');
  t.is(ofNewYork('2026-11-01 01:59:59-04:00', 'end'), '2026-11-01T05:59:59.999Z');
});

test('the first and the last day of a DATETIME are read in every zone', (t) => {
  const [first, last] = ['1000-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'];
  for (const zone of ['America/New_York', 'UTC', 'Asia/Shanghai'])
    t.true((readTime('1000-01-01', zone)?.toISOString() ?? '') >= first, zone);
  t.is(readTime('1000-01-01', 'Asia/Shanghai')?.toISOString(), first);
  t.is(readTime('9999-12-31', 'America/New_York', 'end')?.toISOString(), last);
  t.is(readTime('9999-12-31T23:59:59-01:00')?.toISOString(), last);
  t.is(readTime('9999-12-31', 'Asia/Shanghai', 'end')?.toISOString(), '9999-12-31T15:59:59.999Z');
});

test('days begin at their midnight, also those before a day that begins at one', (t) => {
  const days = daysBack(3, new Date('2026-04-24T10:00:00Z'), 'Africa/Cairo');
  t.deepEqual(
    days.map(({ start }) => start.toISOString()),
    ['2026-04-21T22:00:00.000Z', '2026-04-22T22:00:00.000Z', '2026-04-23T22:00:00.000Z'],
  );
});

test('no day is left out or shortened where clocks are put forward to midnight, or back to it', (t) => {
  const nuuk = daysBack(2, new Date('2026-03-30T00:30:00Z'), 'America/Nuuk');
  t.deepEqual(nuuk, [
    { label: '2026-03-28', start: new Date('2026-03-28T02:00:00Z') },
    { label: '2026-03-29', start: new Date('2026-03-29T01:00:00Z') },
  ]);
  const [today] = daysBack(1, new Date('2026-11-01T12:00:00Z'), 'America/Havana');
  t.deepEqual(today, { label: '2026-11-01', start: new Date('2026-11-01T04:00:00Z') });
});

test('the months before a 31st begin at their first midnight', (t) => {
  const months = monthsBack(3, new Date('2026-05-31T10:00:00Z'), 'Asia/Shanghai');
  t.deepEqual(
    months.map(({ label, start }) => [label, start.toISOString()]),
    [
      ['2026-03', '2026-02-28T16:00:00.000Z'],
      ['2026-04', '2026-03-31T16:00:00.000Z'],
      ['2026-05', '2026-04-30T16:00:00.000Z'],
    ],
  );
});

const limit = 10n ** 15n;
const cents = () => fc.bigInt({ min: -limit, max: limit });

test('sums and multiples are exact', (t) => {
  fc.assert(
    fc.property(
      fc.array(cents(), { maxLength: 50 }),
      fc.integer({ min: 0, max: 1_000_000 }),
      (amounts, count) => {
        const sum = amounts
          .map((amount) => new Money(amount))
          .reduce((total, amount) => total.plus(amount), new Money(0n));
        const expected = amounts.reduce((total, amount) => total + amount, 0n);
        return (
          sum.cents === expected &&
          sum.times(count).cents === expected * BigInt(count) &&
          sum.equals(new Money(expected))
        );
      },
    ),
  );
  t.true(new Money(limit).withinLimit);
  t.false(new Money(limit + 1n).withinLimit);
  t.is(Money.zero.minus(Money.from('0.05')).toString(), '-0.05');
});

test('no text of a caller becomes a bare number', (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const plain: unknown = JSON.parse(JSON.stringify({ value }));
      return (
        JSON.stringify(JSON.parse(toJson({ value, amount: new Money(5n) }))) ===
        JSON.stringify({ ...(plain as object), amount: 0.05 })
      );
    }),
  );
  t.is(toJson({ text: 'money:x:1.00', amount: new Money(100n) }), '{"text":"money:x:1.00","amount":1.00}');
});

test('every notation of an address has one canonical form', (t) => {
  const cases: Record<string, string> = {
    '1.2.3.4': '1.2.3.4',
    '::ffff:1.2.3.4': '1.2.3.4',
    '::FFFF:102:304': '1.2.3.4',
    '2001:DB8:0:0:0:0:0:1': '2001:db8::1',
    '2001:db8::0001': '2001:db8::1',
    'fe80::1%eth0': 'fe80::1',
    '::': '::',
  };
  for (const [given, expected] of Object.entries(cases)) t.is(canonicalIp(given), expected, given);
  const octet = fc.nat(255);
  fc.assert(
    fc.property(
      octet,
      octet,
      octet,
      octet,
      (...parts) => canonicalIp(`::ffff:${parts.join('.')}`) === parts.join('.'),
    ),
  );
  fc.assert(fc.property(fc.ipV6(), (ip) => canonicalIp(canonicalIp(ip) ?? '') === canonicalIp(ip)));
});

const address = fc.oneof(fc.ipV4(), fc.ipV6());
// What people write where an end of a range is meant: an address, the last part of one, a name, nothing.
const part = fc.oneof(
  { weight: 3, arbitrary: address },
  fc.constantFrom('', ' ', '50', '0', 'nobody', '*', '113.9', '203.0.113.', '203.0.113.256', '010.0.0.1'),
  fc.string({ maxLength: 8 }).filter((text) => !/[-/%]/.test(text)),
);
const separator = fc.constantFrom('-', ' - ', '- ', ' -', '--', '–', '~', ',', ' ', '..', '\t-\t');

/** Whether addresses between hyphens are a range, decided without reading it as one. */
function isRange(ends: string[]): boolean {
  const [first, last] = [ipNumber(ends[0]?.trim() ?? ''), ipNumber(ends.at(-1)?.trim() ?? '')];
  if (ends.length > 2 || first === undefined || last === undefined || first > last) return false;
  const isV4 = (text: string): boolean => canonicalIp(text.trim())?.includes('.') === true;
  return isV4(ends[0] as string) === isV4(ends.at(-1) as string);
}

test('a range with an invalid end matches nothing', (t) => {
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 1, maxLength: 3 }),
      fc.array(separator, { minLength: 2, maxLength: 2 }),
      (parts, separators) => {
        // The separator behind the last part is left out.
        const text = parts.map((one, index) => (index === 0 ? '' : separators[index - 1]) + one).join('');
        const range = parseRange(text);
        const ends = text.split('-');
        if (!isRange(ends)) return range === undefined;
        const bounds = [ends[0], ends.at(-1)].map((end) => ipNumber((end as string).trim()));
        return range !== undefined && range.first === bounds[0] && range.last === bounds[1];
      },
    ),
    { numRuns: 2000 },
  );
  t.pass();
});

test('the canonical form of an entry parses to the same entry', (t) => {
  const block = fc.tuple(address, fc.nat(128)).map(([ip, bits]) => `${ip}/${bits}`);
  const range = fc.tuple(address, address).map(([first, last]) => `${first} - ${last}`);
  fc.assert(
    fc.property(fc.oneof(address, block, range), (text) => {
      const read = parseRange(text);
      if (read !== undefined) t.deepEqual(parseRange(read.text), read, text);
    }),
  );
});

test('any text parses to an entry or to none', (t) => {
  const block = fc
    .tuple(part, fc.constantFrom('/', ' /', '/ ', '//'), fc.oneof(fc.nat(140).map(String), part))
    .map((pieces) => pieces.join(''));
  t.notThrows(() => fc.assert(fc.property(fc.oneof(block, fc.string()), (text) => void parseRange(text))));
});

test('public https addresses are gateways', (t) => {
  for (const url of [
    'https://api.mch.weixin.qq.com',
    'https://openapi-sandbox.dl.alipaydev.com/gateway.do',
    'https://openapi.test:8443/gateway.do',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
  ]) {
    t.true(isGatewayUrl(url), url);
  }
});

test('plain, private, special and disguised addresses are refused', (t) => {
  for (const url of [
    ...['', 'nowhere', '//host/', 'ftp://openapi.test/', 'file:///etc/passwd', 'http://openapi.test/'],
    ...['https://user:word@openapi.test/', 'https://localhost/', 'https://db/', 'https://a.localhost/'],
    ...['https://metadata.google.internal/', 'https://printer.local/', 'https://LOCALHOST.localdomain./'],
    ...['https://127.0.0.1/', 'https://127.1/', 'https://2130706433/', 'https://0x7f.0.0.1/', 'https://0/'],
    ...['https://10.0.0.1/', 'https://172.16.0.1/', 'https://192.168.1.1/', 'https://100.64.0.1/'],
    ...['https://169.254.169.254/', 'https://100.100.100.200/', 'https://168.63.129.16/', 'https://0.0.0.0/'],
    ...['https://224.0.0.1/', 'https://255.255.255.255/', 'https://192.0.2.1/', 'https://198.18.0.1/'],
    ...['https://[::1]/', 'https://[::]/', 'https://[fe80::1]/', 'https://[fd00:ec2::254]/'],
    ...['https://[::127.0.0.1]/', 'https://[100:0:0:1::1]/', 'https://[4000::1]/'],
    ...['https://[::ffff:127.0.0.1]/', 'https://[::ffff:a9fe:a9fe]/', 'https://[64:ff9b::7f00:1]/'],
    ...[
      'https://１２７.0.0.1/',
      'https://openapi.test/\r\nX: y',
      ' https://openapi.test/',
      'https://open\tapi.test/',
    ],
  ]) {
    t.false(isGatewayUrl(url), url);
  }
});

test.serial('a name that resolves to a private address is refused', async (t) => {
  let connections = 0;
  const server = createServer().listen(0, '127.0.0.1');
  server.on('connection', () => connections++);
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  for (const host of ['localhost', '127.0.0.1', '[::1]']) {
    const url = new URL(`https://${host}:${port}/`);
    const error = await t.throwsAsync(
      requestGateway(url, { method: 'GET', headers: {} }, AbortSignal.timeout(5000)),
    );
    t.true(error instanceof ChannelFailure);
    t.regex(error?.message ?? '', /is not public/, host);
  }
  t.is(connections, 0);
});

test.serial('a name is refused if one of its addresses is private', async (t) => {
  const { lookup } = dns;
  const resolvingTo = (found: unknown) => {
    dns.lookup = found as typeof lookup;
    syncBuiltinESMExports();
  };
  t.teardown(() => resolvingTo(lookup));
  const [open, closed] = [
    { address: '8.8.8.8', family: 4 },
    { address: '127.0.0.1', family: 4 },
  ];
  for (const addresses of [
    [open, closed],
    [closed, open],
  ]) {
    const found = (_: string, __: unknown, done: (error: null, all: LookupAddress[]) => void) =>
      done(null, addresses);
    resolvingTo(found);
    const request = { method: 'GET' as const, headers: {} };
    const asked = requestGateway(new URL('https://mixed.test/'), request, AbortSignal.timeout(5000));
    t.regex((await t.throwsAsync(asked))?.message ?? '', /is not public/);
  }
});

test('paths, control characters, direction marks and trailing dots are removed', (t) => {
  const cases: [string, string | undefined][] = [
    ['报表 2026 (1).xlsx', '报表 2026 (1).xlsx'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\Windows\\a.txt', 'a.txt'],
    ['..\\..//a.txt', 'a.txt'],
    ['a\0b\r\n\t.txt', 'ab.txt'],
    ['\u202egpj.exe', 'gpj.exe'],
    ['a\u2066\u200b\ufeff.txt', 'a.txt'],
    [' a.txt. . ', 'a.txt'],
    ['👩‍👩‍👧.png', '👩‍👩‍👧.png'],
    ['e\u0301.txt', 'é.txt'],
    ['\ud800.txt', '\ufffd.txt'],
    ['x'.repeat(255), 'x'.repeat(255)],
    ['x'.repeat(256), undefined],
    ['', undefined],
    ['. .', undefined],
    ['a/', undefined],
    ['\u202e', undefined],
  ];
  for (const [given, kept] of cases) t.is(cleanFilename(given), kept, JSON.stringify(given));
});

test('a name of endless blanks or marks is refused at once', (t) => {
  const started = performance.now();
  for (const part of ['. ', '\u0315\u0300\u0316\u0327'])
    t.is(cleanFilename(`a${part.repeat(40_000 / part.length)}x`), undefined);
  const took = performance.now() - started;
  t.true(took < 500, `${took} ms`);
});

test('a cleaned name stays the same when cleaned again', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (given) => {
      const kept = cleanFilename(given);
      if (kept === undefined) return;
      if (/[/\\\p{Cc}]|^\.+$/u.test(kept) || cleanFilename(kept) !== kept)
        throw new Error(JSON.stringify(kept));
    }),
    { numRuns: 3000 },
  );
  t.pass();
});

test('the extension is the part after the last dot', (t) => {
  const cases: [string, string][] = [
    ['a.TXT', 'txt'],
    ['a.php.jpg', 'jpg'],
    ['a.jpg.php', 'php'],
    ['.htaccess', ''],
    ['..png', ''],
    ['none', ''],
    ['a.', ''],
    ['a .png', 'png'],
  ];
  for (const [name, extension] of cases) t.is(extensionOf(name), extension, name);
});

const kind = (extension: string): FileKind => kindOf(extension) as FileKind;

const whole = (content: Buffer): Readable => Readable.from([content], { objectMode: false });

/** Gives so many bytes, then fails as a connection does. */
const breakingOff = (content: Buffer, after: number): Readable =>
  Readable.from(
    (async function* () {
      yield await Promise.resolve(content.subarray(0, after));
      throw new Error('the connection was lost');
    })(),
    { objectMode: false },
  );

test('an interrupted read is never reported as a wrong file type', async (t) => {
  const text = textOf(5000);
  for (const [extension, content] of [
    ['png', png],
    ['mp4', mp4],
    ['docx', docx],
    ['txt', text],
  ] as const) {
    for (const after of [0, 3, 20, content.length]) {
      // The first look is at the head; it and the reading of the whole break off in turn.
      for (const broken of [1, 2]) {
        let opened = 0;
        const open = (): Promise<Readable> =>
          Promise.resolve(++opened === broken ? breakingOff(content, after) : whole(content));
        const error = await checkedCharset(kind(extension), content.length, open).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        t.false(error instanceof AppError, `${extension} after ${after} bytes, read ${broken}`);
      }
    }
  }
});

test('only texts have an encoding', async (t) => {
  const open = (content: Buffer) => () => Promise.resolve(whole(content));
  const gbk = Buffer.from('d6d0cec4', 'hex');
  t.is(await checkedCharset(kind('txt'), 4, open(gbk)), 'gbk');
  t.is(await checkedCharset(kind('csv'), 6, open(Buffer.from('中文'))), 'utf-8');
  t.is(await checkedCharset(kind('png'), png.length, open(png)), null);
});

test('every text is written harmlessly and read back unchanged', (t) => {
  const pieces = fc.constantFrom(
    ...['=', '+', '-', '@', '＝', '＋', '－', '＠', "'", ' ', '\t', '\r', '\n', 'a', '1', '\u3000'],
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(pieces, { maxLength: 6 }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, (cell) => {
      const shown = neutralise(cell);
      return !/^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(shown) && restore(shown) === restore(cell);
    }),
    { numRuns: 2000 },
  );
  t.is(restore("'=1"), '=1');
  t.is(restore("'tis"), "'tis");
});

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
