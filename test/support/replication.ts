// A MariaDB primary with a replica that acknowledges (semi-synchronous, GTID), behind HAProxy, which follows the one that takes writes.
import { OwnDatabase } from './database.js';
import { freePort } from './free-port.js';
import { startDatabaseProxy, type OwnHaproxy } from './haproxy.js';
import { until } from './until.js';

const common = [
  ...['--log-bin=log', '--sync-binlog=1', '--innodb-flush-log-at-trx-commit=1', '--gtid-strict-mode=ON'],
  ...['--log-slave-updates=ON', '--rpl-semi-sync-slave-enabled=ON', '--rpl-semi-sync-master-enabled=ON'],
  // A replica that is gone is waited for so long, then commits are acknowledged without it.
  ...['--rpl-semi-sync-master-timeout=1000', '--rpl-semi-sync-master-wait-point=AFTER_SYNC'],
  // Until it is told otherwise, also after a crash.
  ...['--read-only=ON', '--slave-net-timeout=5', '--skip-slave-start'],
];

/** A server that logs what it does, and follows another one or is followed. */
export class ReplicatingDatabase extends OwnDatabase {
  constructor(port: number, number: number) {
    super(port, [...common, `--server-id=${number}`]);
  }

  protected override command(): [string, ...string[]] {
    const [program, ...args] = super.command();
    return [program, ...args.filter((arg) => arg !== '--skip-log-bin')];
  }

  /** Takes writes from now on. */
  async promote(): Promise<void> {
    await this.run('STOP SLAVE', 'RESET SLAVE ALL', 'SET GLOBAL read_only = OFF');
  }

  /** Follows that server from where it is. */
  async follow(primary: OwnDatabase): Promise<void> {
    await this.run(
      'SET GLOBAL read_only = ON',
      'STOP SLAVE',
      `SET GLOBAL gtid_slave_pos = @@global.gtid_current_pos`,
      `CHANGE MASTER TO master_host = '127.0.0.1', master_port = ${primary.port}, master_user = 'tester',
         master_use_gtid = slave_pos, master_connect_retry = 1`,
      'START SLAVE',
    );
  }

  async position(): Promise<string> {
    const [row] = await this.#ask('SELECT @@global.gtid_current_pos AS position');
    return (row as { position: string }).position;
  }

  /** Waits until it has all that the other one has now. */
  async catchUp(primary: ReplicatingDatabase): Promise<void> {
    const position = await primary.position();
    await until(async () => {
      const rows = await this.#ask('SELECT MASTER_GTID_WAIT(?, 1) AS outcome', position);
      return (rows[0] as { outcome: number }).outcome === 0;
    }, 30_000);
  }

  /** SELECTs it has run. */
  async reads(): Promise<number> {
    const [row] = await this.#ask(`SHOW GLOBAL STATUS LIKE 'Com_select'`);
    return Number((row as { Value: string }).Value);
  }

  // Not in the service's database, which is not there at first.
  async #ask(sql: string, ...values: string[]): Promise<object[]> {
    const connection = await this.connect('');
    try {
      const [rows] = await connection.query(sql, values);
      return rows as object[];
    } finally {
      connection.destroy();
    }
  }
}

export interface OwnReplication {
  primary: ReplicatingDatabase;
  replica: ReplicatingDatabase;
  remove(): Promise<void>;
}

/** Starts both. @param port leads to the one that takes writes */
export async function startOwnReplication(port: number): Promise<OwnReplication> {
  const [primary, replica] = [
    new ReplicatingDatabase(await freePort(), 1),
    new ReplicatingDatabase(await freePort(), 2),
  ];
  const servers = [primary, replica];
  await Promise.all(servers.map((server) => server.install()));
  await Promise.all(servers.map((server) => server.start()));
  await replica.follow(primary);
  await primary.promote();
  const proxy: OwnHaproxy = await startDatabaseProxy(port, await freePort(), servers);
  return {
    ...{ primary, replica },
    async remove() {
      await proxy.remove();
      await Promise.all(servers.map((server) => server.remove()));
    },
  };
}
