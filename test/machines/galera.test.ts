// Galera of three nodes: one writer address, and every node at once. Nodes die, go silent, are cut off from the others.
import '../support/environment.js';
import { databasePort } from '../support/own-address.js';
import test from 'ava';
import { closeDatabase } from '../../src/lib/database/db.js';
import { changeBalances, mustAddUp } from '../support/balances.js';
import { makeUser } from '../support/factories.js';
import { freePort } from '../support/free-port.js';
import { startOwnGalera, type GaleraNode, type OwnGalera } from '../support/galera.js';
import { Outages } from '../support/outage.js';
import { killProcesses, startApi, startWorkerProcess } from '../support/processes.js';
import { until } from '../support/until.js';

let galera: OwnGalera;
let everybody: number;
let outages: Outages | undefined;
let spread: Outages | undefined;

test.before(async () => {
  everybody = await freePort();
  galera = await startOwnGalera(databasePort, everybody);
});

test.after.always(async () => {
  outages?.abandon();
  spread?.abandon();
  await killProcesses();
  await closeDatabase();
  await galera?.remove();
});

test.serial('two machines start at two nodes of an empty cluster at once', async (t) => {
  const [one, other] = galera.nodes as [GaleraNode, GaleraNode];
  const [api, worker] = await Promise.all([
    startApi({ DB_PORT: String(one.port) }),
    startWorkerProcess({ DB_PORT: String(other.port) }),
  ]);
  await api.kill();
  await worker.kill();
  const rows = await galera.nodes[2]?.select<{ admins: number; migrations: number; names: number }>(
    `SELECT (SELECT COUNT(*) FROM admins) AS admins, COUNT(*) AS migrations, COUNT(DISTINCT name) AS names FROM migrations`,
  );
  t.is(rows?.[0]?.admins, 1);
  t.true((rows?.[0]?.names ?? 0) > 0);
  t.is(rows?.[0]?.migrations, rows?.[0]?.names);
  outages = await Outages.prepare({});
});

const through = async (...args: Parameters<Outages['through']>): Promise<void> => outages?.through(...args);

test.serial('service continues after the writer is killed', async (t) => {
  const writer = await galera.writer();
  await through(t, 'writer killed', () => writer.stop('SIGKILL')).finally(() => writer.startAs('member'));
  await galera.isWhole();
});

test.serial('service continues after the writer goes silent', async (t) => {
  const writer = await galera.writer();
  await through(t, 'writer silent', () => writer.freeze()).finally(() => writer.thaw());
  await galera.isWhole();
});

test.serial('service continues after the writer is cut off from the other nodes', async (t) => {
  const writer = await galera.writer();
  await through(t, 'writer cut off', () => writer.isolate(true)).finally(() => writer.isolate(false));
  await galera.isWhole();
});

test.serial('service continues after another node is killed', async (t) => {
  const writer = await galera.writer();
  const other = galera.nodes.find((node) => node !== writer) as GaleraNode;
  await through(t, 'another node killed', () => other.stop('SIGKILL')).finally(() => other.startAs('member'));
  await galera.isWhole();
});

/** How often nodes have met in a row since they were started. */
async function conflicts(): Promise<number> {
  const names = ['wsrep_local_cert_failures', 'wsrep_local_bf_aborts'];
  const counts = await Promise.all(galera.nodes.flatMap((node) => names.map((name) => node.status(name))));
  return counts.reduce((sum, [row]) => sum + Number(row?.Value), 0);
}

test.serial('conflicts of writes at every node are repeated', async (t) => {
  const env = { DB_PORT: String(everybody), DB_SESSION: 'wsrep_sync_wait=1' };
  spread = await Outages.prepare(env);
  const { admin } = spread;
  const user = await makeUser(admin);
  // Clients enough that two nodes change the balance at the same moment.
  await until(async () => {
    await changeBalances([admin], [user.id], 200);
    return (await conflicts()) > 0;
  }, 60_000);
  t.log(`${await conflicts()} conflicts between nodes`);
  await mustAddUp(user.id);
  await spread.through(t, 'one of the writers killed', () => galera.nodes[1]?.stop('SIGKILL'));
  await galera.nodes[1]?.startAs('member');
  await galera.isWhole();
});

test.serial('acknowledged requests are in the database once', async (t) => {
  await outages?.mustAddUp(t);
  await spread?.mustAddUp(t);
});
