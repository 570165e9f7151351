// The configuration: its example file, its defaults, and what it refuses. One test at a time: they change the environment.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { envExample } from '../../config/env-example.js';
import { projectRoot, UnusableSettings } from '../../config/environment.js';
import { config as own, loadConfig } from '../../config/index.js';
import { allChannels } from '../../src/lib/channels/index.js';

type Config = ReturnType<typeof loadConfig>;

interface Ended {
  /** What was written about the configuration, unless it was refused. */
  written: string;
  /** The one line that production writes. */
  log?: FatalLine;
  code?: unknown;
  stderr?: string;
}

interface FatalLine {
  level: string;
  msg: string;
  problems: string[];
}

const secret = '3a7f19c2e8b45d60f1927ac4be8d3056';
const otherSecret = 'c81e05d7b93f62a4078de1c95ab3f246';

const withSecrets = (env: Record<string, string>) => ({ JWT_SECRET: secret, APP_KEY: otherSecret, ...env });

/** The configuration of these settings, or what is wrong with them. */
function load(env: Record<string, string> = {}): { config?: Config; problems: readonly string[] } {
  const before = process.env;
  process.env = withSecrets(env);
  try {
    return { config: loadConfig(), problems: [] };
  } catch (error) {
    if (error instanceof UnusableSettings) return { problems: error.problems };
    throw error;
  } finally {
    process.env = before;
  }
}

/** The configuration of these settings. @throws Error when they are refused */
function configOf(env?: Record<string, string>): Config {
  const { config, problems } = load(env);
  if (!config) throw new Error(problems.join(', '));
  return config;
}

/** How a process ends whose configuration has these settings. */
function run(env: Record<string, string>): Promise<Ended> {
  const file = pathToFileURL(resolve(projectRoot, 'build/config/index.js')).href;
  const script = `const { config } = await import(${JSON.stringify(file)}); process.stdout.write(JSON.stringify(config));`;
  return new Promise((done) => {
    execFile(
      process.execPath,
      ['--input-type=module', '-e', script],
      { env: withSecrets(env) },
      (error, stdout, stderr) => {
        if (!error) return done({ written: stdout });
        const log = stdout ? (JSON.parse(stdout) as FatalLine) : undefined;
        return done({ written: '', log, code: error.code, stderr });
      },
    );
  });
}

const production = {
  ...{ NODE_ENV: 'production', DB_PASSWORD: 'of-this-database' },
  STORAGE_ROOT: '/srv/back-office/storage',
};

const named = ({ problems }: { problems: readonly string[] }): string[] =>
  [...new Set(problems.map((problem) => /"(\w+)"/.exec(problem)?.[1] ?? problem))].sort();

test.serial('.env.example names every setting with its default', async (t) => {
  t.is(await readFile(resolve(projectRoot, '.env.example'), 'utf8'), envExample());
});

test.serial('every setting has a default', (t) => {
  const config = configOf();
  t.deepEqual(
    [config.app.production, config.app.host, config.app.port, config.app.url],
    [false, '127.0.0.1', 3000, 'http://localhost:3000'],
  );
  t.deepEqual(
    [config.auth.jwtTtlMinutes, config.auth.captchaMode, config.auth.bcryptCost],
    [600, 'adaptive', 10],
  );
  t.deepEqual(
    [config.auth.loginMaxAttempts, config.auth.loginWindowSeconds, config.auth.loginLockSeconds],
    [5, 300, 900],
  );
  t.deepEqual([config.auth.passwordMinLength, config.auth.passwordRequireMixed], [6, false]);
  t.deepEqual([config.app.ordersEnabled, config.payments.enabled], [true, false]);
});

test.serial('an empty setting counts as not set', (t) => {
  const config = configOf({
    PORT: '',
    PAYMENT_GATEWAYS_ENABLED: '',
    CORS_ORIGINS: ' https://a.example , ,https://b.example:1',
  });
  t.is(config.app.port, 3000);
  t.is(config.payments.gateways, undefined);
  t.deepEqual(config.app.corsOrigins, ['https://a.example', 'https://b.example:1']);
});

test.serial('an empty, * or all setting means all gateways', (t) => {
  const gateways = (text: string) => configOf({ PAYMENT_GATEWAYS_ENABLED: text }).payments.gateways;
  for (const text of ['*', 'all', 'mock,*']) t.is(gateways(text), undefined, text);
  t.deepEqual(gateways('mock, wechat'), ['mock', 'wechat']);
});

test.serial('results are closed unless a channel with a company is named', (t) => {
  t.deepEqual(configOf().payments.channelResults, []);
  const named = { PAYMENT_CHANNEL_RESULTS: ' wechat,alipay ' };
  t.deepEqual(configOf(named).payments.channelResults, ['wechat', 'alipay']);
  for (const word of ['mock', 'Wechat', '*']) {
    t.deepEqual(load({ PAYMENT_CHANNEL_RESULTS: `wechat,${word}` }).problems, [
      `"PAYMENT_CHANNEL_RESULTS" contains "${word}", which has no results to open; there are wechat, alipay`,
    ]);
  }
});

test.serial('all wrong settings are reported at once', (t) => {
  const wrong = {
    ...{
      PORT: '99999',
      API_INSTANCES: 'two',
      BCRYPT_COST: 'ten',
      CAPTCHA_MODE: 'sometimes',
      MODULE_PAYMENTS_ENABLED: 'yes',
      REDIS_URL: 'http://x',
    },
    ...{
      DATABASE_URL: 'postgres://x/y',
      LOG_LEVEL: 'loud',
      JWT_SECRET: 'short',
      APP_KEY_PREVIOUS: 'long-enough-to-be-a-key, short',
      DB_NAME: 'a;b',
      TENANT_CODE: 'A B',
    },
    ...{
      TRUSTED_PROXIES: '127.0.0.1, nowhere',
      CORS_ORIGINS: 'https://a.example/, *',
      APP_URL: 'back-office',
    },
  };
  t.deepEqual(named(load(wrong)), Object.keys(wrong).sort());
  t.deepEqual(
    named(load({ ...wrong, NODE_ENV: 'production', APP_KEY: '' })),
    [...Object.keys(wrong), 'APP_KEY', 'STORAGE_ROOT'].sort(),
  );
});

test.serial('the public address is one that a path can follow', (t) => {
  for (const APP_URL of ['https://shop.example?a=b', 'https://shop.example/back#office'])
    t.deepEqual(load({ APP_URL }).problems, ['"APP_URL" must have neither ? nor #'], APP_URL);
  t.is(configOf({ APP_URL: 'https://shop.example/back/' }).app.url, 'https://shop.example/back');
});

test.serial('wrong settings end the process with a list', async (t) => {
  const here = await run({ PORT: '99999', REDIS_URL: 'localhost:6379' });
  t.is(
    here.stderr,
    'The configuration is not usable:\n  - "PORT" must be a valid port\n' +
      '  - "REDIS_URL" must begin with redis:// or rediss://, as in redis://127.0.0.1:6379\n',
  );
  t.is(here.code, 78);
  const { log, stderr, code } = await run({ ...production, PORT: '99999', APP_KEY_PREVIOUS: 'tell-nobody' });
  t.deepEqual([log?.level, log?.msg, code], ['fatal', 'the configuration is not usable', 78]);
  t.deepEqual(log?.problems, [
    '"PORT" must be a valid port',
    '"APP_KEY_PREVIOUS" contains a key of under 16 characters',
  ]);
  t.is(stderr, '');
});

test.serial('misspelt settings are reported', (t) => {
  const given = { MODULE_PAYMENT_ENABLED: 'false', DB_PASS: 'x', REDIS_URI: 'x', DB_USERNAME: 'x' };
  const others = {
    DB_ROOT_PASSWORD: 'x',
    REDIS_PASSWORD: 'x',
    HOST_: 'x',
    PM2_HOME: 'x',
    API_INSTANCES: '2',
  };
  const { misspellings } = configOf({ ...given, ...others });
  t.deepEqual(misspellings.map(({ given: name, meant }) => `${name} ${meant}`).sort(), [
    ...['DB_PASS DB_PASSWORD', 'DB_USERNAME DB_USER', 'MODULE_PAYMENT_ENABLED MODULE_PAYMENTS_ENABLED'],
    'REDIS_URI REDIS_URL',
  ]);
});

test.serial('an unknown gateway is refused with the known ones', (t) => {
  const { problems } = load({ PAYMENT_GATEWAYS_ENABLED: 'mock,mok' });
  t.is(problems.length, 1);
  const [said, known] = problems[0]?.split('; there are ') ?? [];
  t.is(said, '"PAYMENT_GATEWAYS_ENABLED" contains "mok", which is no gateway');
  t.deepEqual(known?.split(', ').sort(), allChannels.map(({ type }) => type).sort());
});

test.serial('a retention of more days than the database can date is refused', (t) => {
  const { retention } = configOf({ EXPORT_RETENTION_DAYS: '100000' });
  t.is(retention.exportMs, 100_000 * 86_400_000);
  const names = ['LOG', 'NOTIFICATION', 'EXPORT', 'CALLBACK'].map((name) => `${name}_RETENTION_DAYS`);
  const settings = Object.fromEntries(names.map((name) => [name, '9999999']));
  t.deepEqual(named(load(settings)), names.toSorted());
});

test.serial('production requires storage outside the release', (t) => {
  const outside = { DB_TLS: 'true', DB_HOST: 'db.example', DB_TLS_CA: 'db.pem' };
  t.deepEqual(named(load({ ...production, ...outside, STORAGE_ROOT: 'storage' })), [
    ...['DB_TLS_CA', 'STORAGE_ROOT'],
  ]);
  t.deepEqual(named(load({ ...production, STORAGE_ROOT: '' })), ['STORAGE_ROOT']);
});

test.serial('production refuses missing and weak secrets', (t) => {
  t.deepEqual(named(load({ ...production, JWT_SECRET: '', APP_KEY: '' })), ['APP_KEY', 'JWT_SECRET']);
  const tooShort = secret.slice(1);
  const guessable = [
    'x'.repeat(64),
    'abcdbacdbadcbadcabdcbadcabdcbacdbabc',
    '7Yq2!kfPz0wD'.repeat(4),
    'abcdefghijklmnopqrstuvwxyz0123456789',
  ];
  const weak = [tooShort, ...guessable];
  // Each is tried as either secret.
  for (const [index, JWT_SECRET] of weak.entries()) {
    const both = { JWT_SECRET, APP_KEY: weak.at(index - 1) as string };
    t.deepEqual(named(load({ ...production, ...both })), ['APP_KEY', 'JWT_SECRET'], JWT_SECRET);
    if (!Object.values(both).includes(tooShort))
      t.truthy(load(both).config, `${JWT_SECRET}, outside production`);
  }
  t.deepEqual(named(load({ ...production, APP_KEY: secret })), ['JWT_SECRET'], 'one for both');
  const config = configOf({ ...production, PAYMENT_LOCAL_GATEWAYS_ALLOWED: 'true' });
  t.is(config.app.host, '0.0.0.0');
  t.false(config.app.docsEnabled);
  t.deepEqual([config.auth.passwordMinLength, config.auth.passwordRequireMixed], [8, true]);
  t.is(config.auth.loginMaxPerAddress, 50);
  t.deepEqual([config.auth.passwordRefuseCommon, config.auth.passwordChangeRequired], [true, true]);
  t.is(config.auth.sessionIdleMs, 3_600_000);
  t.deepEqual(
    [config.payments.unsignedMockAllowed, config.payments.localGatewaysAllowed],
    [false, false],
    'the second is for trials only',
  );
});

// Most tests have shorter ones.
test.serial('times and bounds that nobody can set are those of the documents', (t) => {
  const { app, auth, limits, payments, storage, worker } = configOf(production);
  t.deepEqual([payments.callbackDeadlineMs, app.shutdownMs, app.connectionsMax], [2000, 9000, 5000]);
  t.like(worker, { sweepSeconds: 30, sweepAgeMs: 10_000, jobLockMs: 12_000, hangMs: 60_000 });
  t.like(auth, { captchaAfterFailures: 2, loginMaxPerUsernameHour: 50, hashQueue: 32 });
  t.like(limits, { enabled: true, captcha: 60, export: 30, upload: 600, ticket: 120, stream: 120 });
  t.deepEqual([storage.chunkSessionsMax, storage.exportsPerAdmin], [100, 10]);
});

test.serial('production refuses well-known passwords', (t) => {
  for (const refused of [
    {
      ADMIN_PASSWORD: 'admin123',
      DB_PASSWORD: 'back_office',
      REDIS_URL: 'redis://:redis@cache:6379/0',
    },
    { DATABASE_URL: 'mysql://back_office:back_office@db/back_office' },
  ] as Record<string, string>[]) {
    t.deepEqual(named(load({ ...production, ...refused })), Object.keys(refused));
    t.truthy(load(refused).config, 'outside production');
  }
  t.deepEqual(named(load({ DB_TLS: 'true', DB_HOST: 'db.example', DB_TLS_CA: 'no/such.pem' })), [
    'DB_TLS_CA',
  ]);
  t.deepEqual(named(load({ DB_TLS: 'true', DB_HOST: '127.0.0.1' })), ['DB_TLS']);
  t.deepEqual(named(load({ ...production, DB_PASSWORD: '' })), ['DB_PASSWORD']);
  t.deepEqual(named(load({ ...production, DATABASE_URL: 'mysql://root@db/x' })), ['DATABASE_URL']);
});

test.serial('an address that cannot be taken apart is refused without showing its password', (t) => {
  for (const refused of [
    {
      APP_URL: 'https://back-office.example:99999',
      DATABASE_URL: 'mysql://root:tell-nobody@db:99999/x',
      REDIS_URL: 'redis://:tell-nobody@cache:99999/0',
    },
    { DATABASE_URL: 'mysql://root:tell-nobody%ZZ@db/x', REDIS_URL: 'redis://:tell-nobody%@cache/0' },
    { DATABASE_URL: 'mysql://root:tell-nobody@db/x?ssl-mode=REQUIRED' },
    { DATABASE_URL: 'mysql://root:tell-nobody@db/x/' },
    { REDIS_URL: 'redis://:tell-nobody@cache/0?tls=true' },
    { REDIS_SENTINELS: 'a:26379,redis://:tell-nobody@b:26379' },
  ] as Record<string, string>[]) {
    const { problems } = load(refused);
    t.deepEqual(named({ problems }), Object.keys(refused));
    t.notRegex(problems.join(), /tell-nobody/);
  }
});

test.serial('Redis is one server or a Sentinel master', (t) => {
  const one = configOf({ REDIS_URL: 'redis://user:p%40ss@[::1]:6380/2' }).redis;
  t.deepEqual(
    [one.server, one.db, one.username, one.password, one.tls],
    [...[{ host: '::1', port: 6380 }, 2, 'user', 'p@ss', undefined]],
  );
  const { redis } = configOf({
    REDIS_SENTINELS: 'a:26379, [fd00::1]:26380',
    REDIS_SENTINEL_NAME: 'money',
  });
  t.deepEqual(redis.sentinels, [
    { host: 'a', port: 26379 },
    { host: 'fd00::1', port: 26380 },
  ]);
  t.is(redis.sentinel.name, 'money');
  const refused: [Record<string, string>, string[]][] = [
    [{ REDIS_SENTINELS: 'a' }, ['REDIS_SENTINELS']],
    [{ REDIS_SENTINELS: 'a:99999' }, ['REDIS_SENTINELS']],
    [{ REDIS_SENTINELS: 'a:1,redis://b:2' }, ['REDIS_SENTINELS']],
    [{ REDIS_URL: 'redis://a/main' }, ['REDIS_URL']],
    [{ REDIS_TLS_CA: 'package.json' }, ['REDIS_TLS_CA']],
    [{ REDIS_TLS_CA: 'no/such.pem', REDIS_URL: 'rediss://a' }, ['REDIS_TLS_CA']],
  ];
  for (const [env, names] of refused) t.deepEqual(named(load(env)), names, JSON.stringify(env));
});

test.serial('a missing secret is generated once outside production', async (t) => {
  const started = await Promise.all(Array.from({ length: 4 }, () => run({ JWT_SECRET: '', APP_KEY: '' })));
  const [first, ...others] = started.map(({ written }) => (JSON.parse(written) as Config).auth);
  t.regex(first?.jwtSecret ?? '', /^[0-9a-f]{64}$/);
  t.not(first?.jwtSecret, first?.appKey);
  for (const auth of others) t.deepEqual(auth, first);
});

test.serial('a database URL overrides the single settings', (t) => {
  const config = configOf({
    DATABASE_URL: 'mysql://us%40er:p%3Aw@db.example:3307/shop',
    DB_HOST: 'elsewhere',
    TENANT_CODE: 'acme-1',
  });
  const { host, port, user, password, name } = config.database;
  t.deepEqual(
    { host, port, user, password, name },
    { host: 'db.example', port: 3307, user: 'us@er', password: 'p:w', name: 'shop_acme_1' },
  );
  t.is(config.redis.prefix, 'back-office-acme-1');
  t.is(configOf({ DATABASE_URL: 'mysql://root:x@[::1]/shop' }).database.host, '::1');
  const long = { DB_NAME: 'x'.repeat(48), TENANT_CODE: 'y'.repeat(32) };
  t.deepEqual(named(load(long)), ['DB_NAME']);
});

test.serial('the environment overrides the tenant file, which overrides the shared file', async (t) => {
  const tenant = `test-${randomBytes(4).toString('hex')}`;
  const file = resolve(projectRoot, `.env.${tenant}`);
  t.teardown(() => rm(file));
  await writeFile(file, 'APP_URL=https://own.example\nPORT=4001\nLOG_LEVEL=error\n');
  const config = configOf({ TENANT_CODE: tenant, PORT: '4002' });
  t.deepEqual(
    [config.app.url, config.app.port, config.watching.logLevel],
    ['https://own.example', 4002, 'error'],
  );
  t.is(configOf({ TENANT_CODE: 'test-other' }).app.port, 3000);
});

test.serial('a byte order mark does not hide the first setting of a file', async (t) => {
  const tenant = `test-${randomBytes(4).toString('hex')}`;
  const file = resolve(projectRoot, `.env.${tenant}`);
  t.teardown(() => rm(file));
  await writeFile(file, '\uFEFFPORT=4001\r\nLOG_LEVEL=error\r\n');
  const config = configOf({ TENANT_CODE: tenant });
  t.deepEqual([config.app.port, config.watching.logLevel], [4001, 'error']);
});

test.serial('a line of a file that is no setting is refused with its number', async (t) => {
  const tenant = `test-${randomBytes(4).toString('hex')}`;
  const file = resolve(projectRoot, `.env.${tenant}`);
  t.teardown(() => rm(file));
  const settings = [
    ...['# a comment', '', '  # another', 'export PORT = 4001', 'LOG_LEVEL=error # why', 'MAIL.FROM-X='],
    ...[
      'CERTIFICATE="-----BEGIN',
      'not a setting',
      '-----END" # its end',
      "QUOTED='a=b'",
      'APP_URL=https://a.example',
    ],
  ];
  await writeFile(file, settings.join('\r\n'));
  const config = configOf({ TENANT_CODE: tenant });
  t.deepEqual(
    [config.app.port, config.watching.logLevel, config.app.url],
    [4001, 'error', 'https://a.example'],
  );
  for (const wrong of ['PORT 4001', 'PORT: 4001', 'export PORT', '6f1927ac4be8d3056']) {
    await writeFile(file, [...settings, wrong, 'LIMITS_ENABLED=true'].join('\n'));
    t.deepEqual(load({ TENANT_CODE: tenant }).problems, [
      `${file}, line ${settings.length + 1}, is not NAME=value`,
    ]);
  }
});

test.serial('a file of settings that cannot be read is refused with its name', async (t) => {
  const tenant = `test-${randomBytes(4).toString('hex')}`;
  const file = resolve(projectRoot, `.env.${tenant}`);
  t.teardown(() => rmdir(file));
  // A folder, because root may read every file.
  await mkdir(file);
  t.deepEqual(load({ TENANT_CODE: tenant }).problems, [`${file} cannot be read by this account`]);
});

test.serial('the configuration is frozen', (t) => {
  const parts = Object.values(own).filter((part) => typeof part === 'object');
  t.true(parts.length > 5);
  t.true([own, ...parts].every((part) => Object.isFrozen(part)));
});

test.serial('spans are off without an address', (t) => {
  t.false(configOf().watching.tracing);
  t.true(configOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318/' }).watching.tracing);
  t.deepEqual(named(load({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' })), [
    'OTEL_EXPORTER_OTLP_ENDPOINT',
  ]);
});

test.serial('a port of figures that others can reach needs a token', (t) => {
  t.deepEqual(load({ METRICS_HOST: '0.0.0.0' }).problems, [
    '"METRICS_TOKEN" must be set where METRICS_HOST lets others reach that port',
  ]);
  t.is(configOf({ METRICS_HOST: '::1' }).watching.metricsToken, undefined);
});

test.serial('settings of earlier releases have no effect and are named', (t) => {
  const { retired, payments } = configOf({
    CALLBACK_WAIT_MS: '1',
    LIMIT_EXPORTS: '1',
    REDIS_PREFIX: 'x',
  });
  t.deepEqual([...retired].sort(), ['CALLBACK_WAIT_MS', 'LIMIT_EXPORTS']);
  t.is(payments.callbackWaitMs, 2000);
});

test.serial('a file of settings fits on four screens', (t) => {
  const lines = envExample().split('\n');
  t.true(lines.length <= 200);
  t.true(lines.filter((line) => /^#[A-Z]/.test(line)).length <= 70 + 4);
});
