// Checks of the database server: do acknowledged commits survive a crash, and the loss of the machine?
import { db } from '../../lib/database/db.js';

/** What a check of the doctor finds. */
export interface Finding {
  level: 'ok' | 'warning' | 'fault';
  says: string;
}

export const ok = (says: string): Finding => ({ level: 'ok', says });
export const warning = (says: string): Finding => ({ level: 'warning', says });
export const fault = (says: string): Finding => ({ level: 'fault', says });

type Values = Record<string, string | undefined>;

/** Whether an acknowledged commit is on the disk. */
export async function checkDatabaseDurability(): Promise<Finding> {
  const values = await variables([
    'innodb_flush_log_at_trx_commit',
    'log_bin',
    'sync_binlog',
    'innodb_doublewrite',
  ]);
  const wrong: string[] = [];
  if (values.innodb_flush_log_at_trx_commit !== '1')
    wrong.push(`innodb_flush_log_at_trx_commit is ${values.innodb_flush_log_at_trx_commit}, not 1`);
  if (values.log_bin === 'ON' && values.sync_binlog !== '1')
    wrong.push(`sync_binlog is ${values.sync_binlog}, not 1`);
  if (values.innodb_doublewrite === 'OFF') wrong.push('innodb_doublewrite is OFF');
  if (wrong.length > 0) return warning(`a crash may lose acknowledged payments: ${wrong.join(', ')}`);
  return ok(
    values.log_bin === 'ON'
      ? 'flushed at commit; binlog on'
      : 'flushed at commit; no binlog, so no point-in-time restore',
  );
}

const minNodes = 3;

/** Whether an acknowledged commit is on another machine as well. */
export async function checkReplication(): Promise<Finding> {
  const { wsrep_on, ...settings } = await variables([
    'wsrep_on',
    'rpl_semi_sync_master_enabled',
    'rpl_semi_sync_master_wait_point',
    'rpl_semi_sync_source_enabled',
    'rpl_semi_sync_source_wait_point',
  ]);
  const state = await variables(
    [
      'wsrep_cluster_size',
      'wsrep_local_state_comment',
      'Slaves_connected',
      'Rpl_semi_sync_master_clients',
      'Rpl_semi_sync_source_clients',
    ],
    'STATUS',
  );
  if (wsrep_on === 'ON') return galera(state);
  const clients = Number(state.Rpl_semi_sync_master_clients ?? state.Rpl_semi_sync_source_clients ?? 0);
  const isSemiSync = [settings.rpl_semi_sync_master_enabled, settings.rpl_semi_sync_source_enabled].includes(
    'ON',
  );
  if (isSemiSync && clients === 0)
    return warning('semi-synchronous, but no replica acknowledges: a commit is on this server only');
  const waitPoint = settings.rpl_semi_sync_master_wait_point ?? settings.rpl_semi_sync_source_wait_point;
  if (isSemiSync && waitPoint !== 'AFTER_SYNC')
    return warning(`semi-synchronous with wait point ${waitPoint}: others may see what a fail-over loses`);
  if (isSemiSync) return ok(`semi-synchronous, ${clients} of the replicas acknowledge`);
  const replicas = Number(state.Slaves_connected ?? 0);
  if (replicas === 0) return ok('no replica is connected');
  return warning(
    `${replicas} replicas follow, not semi-synchronously: a fail-over may lose acknowledged payments`,
  );
}

function galera({ wsrep_cluster_size: size, wsrep_local_state_comment: state }: Values): Finding {
  const says = `Galera, ${size} nodes, this one is ${state}`;
  return Number(size) < minNodes || state !== 'Synced' ? warning(says) : ok(says);
}

async function variables(names: readonly string[], kind = 'VARIABLES'): Promise<Values> {
  const [rows] = await db.query(
    `SHOW GLOBAL ${kind} WHERE Variable_name IN (${names.map((name) => `'${name}'`).join(', ')})`,
  );
  return Object.fromEntries(
    (rows as { Variable_name: string; Value: string }[]).map((row) => [row.Variable_name, row.Value]),
  );
}
