// Galera of three nodes behind one writer address. Nodes die, go silent, are cut off from the others.
import '../support/settings/environment.js';
import { databasePort } from '../support/settings/own-address.js';
import test from 'ava';
import { closeDatabase } from '../../src/lib/database/db.js';
import { startOwnGalera, type GaleraNode, type OwnGalera } from '../support/servers/galera.js';
import { Outages } from '../support/servers/outage.js';
import { killProcesses, startApi, startWorkerProcess } from '../support/processes.js';

let galera: OwnGalera;
let outages: Outages | undefined;

test.before(async () => {
  galera = await startOwnGalera(databasePort);
});

test.after.always(async () => {
  outages?.abandon();
  await killProcesses();
  await closeDatabase();
  await galera?.remove();
});

test.serial('two machines start on an empty cluster at once', async (t) => {
  const [api, worker] = await Promise.all([startApi(), startWorkerProcess()]);
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

test.serial('acknowledged requests are in the database once', async (t) => {
  await outages?.mustAddUp(t);
});
