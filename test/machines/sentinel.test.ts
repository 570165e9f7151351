// Everything over TLS with accounts: MariaDB that wants TLS, Redis and Sentinels with users, as the files of deploy/ have them. Wrong
// authorities, names and passwords get nobody in, and a fail-over works as without.
import '../support/settings/environment.js';
import { databasePort } from '../support/settings/own-address.js';
import { foreign, own } from '../support/settings/own-certificates.js';
import test, { type ExecutionContext } from 'ava';
import { closeDatabase, select } from '../../src/lib/database/db.js';
import { Client } from '../support/client.js';
import { OwnDatabase } from '../support/servers/database.js';
import { Outages } from '../support/servers/outage.js';
import { killProcesses, runCli, startApi } from '../support/processes.js';
import { startOwnSentinels, type OwnSentinels } from '../support/servers/sentinel.js';

const tls = ({ cert, key }: typeof own): string[] => [`--ssl-cert=${cert}`, `--ssl-key=${key}`];

let database: OwnDatabase;
let redis: OwnSentinels;
let redisEnv: Record<string, string>;
let outages: Outages;

test.before(async () => {
  database = new OwnDatabase(databasePort, [...tls(own), '--require-secure-transport=ON'], own.pem);
  await database.install();
  await database.start();
  redis = await startOwnSentinels(own);
  redisEnv = {
    ...redis.env,
    REDIS_URL: 'rediss://back-office:service-password@any',
    REDIS_TLS_CA: own.cert,
    REDIS_SENTINEL_USERNAME: 'back-office',
    REDIS_SENTINEL_PASSWORD: 'asker-password',
  };
  outages = await Outages.prepare(redisEnv);
});

test.after.always(async () => {
  outages?.abandon();
  await killProcesses();
  await closeDatabase();
  await Promise.all([redis?.remove(), database?.remove()]);
});

const impatient = { DB_STARTUP_WAIT_SECONDS: '0' };

async function doesNotStart(t: ExecutionContext, env: Record<string, string>, why: RegExp): Promise<void> {
  await t.throwsAsync(startApi({ ...redisEnv, ...impatient, ...env }), { message: why });
}

test.serial('all connections to the database are encrypted', async (t) => {
  const [row] = await select<{ Value: string }>(`SHOW SESSION STATUS LIKE 'Ssl_version'`);
  t.regex(row?.Value ?? '', /^TLSv1\.[23]$/);
  const { output, code } = await runCli(['doctor', '--json'], redisEnv);
  t.regex(output, /"check": ?"database"/);
  t.is(code, 0, output);
});

test.serial('a server certificate of another authority or name is refused', async (t) => {
  await Promise.all([
    doesNotStart(t, { DB_TLS_CA: foreign.cert }, /self[- ]signed certificate|unable to verify/i),
    doesNotStart(t, { DB_TLS: 'false' }, /refuses the user|insecure transport/i),
  ]);
  const rest = database.options.splice(0);
  database.options.push(...tls(foreign), '--require-secure-transport=ON');
  await database.stop();
  await t.throwsAsync(database.start());
  await doesNotStart(t, { DB_TLS_CA: foreign.cert }, /does not match certificate|altnames/);
  database.options.splice(0, 2, ...rest);
  await database.stop();
  await database.start();
});

test.serial('a wrong password or authority counts as unreachable Redis', async (t) => {
  const countsAsAway = async (env: Record<string, string>) => {
    const api = await startApi({ ...redisEnv, ...env });
    const { status, data } = await new Client(api.url).get('//readyz');
    t.deepEqual([status, data?.redis], [200, 'away'], JSON.stringify(env));
    await api.stop();
  };
  await Promise.all([
    countsAsAway({ REDIS_URL: 'rediss://back-office:wrong@any' }),
    countsAsAway({ REDIS_TLS_CA: foreign.cert }),
    countsAsAway({ REDIS_SENTINEL_PASSWORD: 'wrong' }),
  ]);
});

test.serial('service continues after the master is killed', async (t) => {
  const master = await redis.master();
  await outages.through(t, 'master killed', () => master.stop('SIGKILL')).finally(() => master.start());
  await redis.isWhole();
});

test.serial('service continues after the master goes silent', async (t) => {
  const master = await redis.master();
  await outages.through(t, 'master silent', () => master.freeze()).finally(() => master.thaw());
  await redis.isWhole();
});

test.serial('acknowledged requests are in the database once', async (t) => {
  await outages.mustAddUp(t);
});
