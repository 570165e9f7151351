// system_logs: warnings and errors of API and worker.
import Joi from 'joi';
import { listQuery, Where, type Criteria, type ListQuery, type Page } from '../../lib/input/list-query.js';
import { textFilter } from '../../lib/input/schema.js';
import { columnsOf, selection } from '../tables/selection.js';
import type { Listed } from '../tables/table.js';
import { getLog, type EntryOf } from './log.js';
import { logLevels, SystemLog } from './tables.js';

export type SystemEntry = EntryOf<SystemLog>;

const systemFilters = {
  level: Joi.string().valid(...logLevels),
  trace_id: textFilter(64),
  module: textFilter(50).description('Process: api or worker').example('worker'),
  message: textFilter(200).description('Part of the text of the log line'),
};

type SystemFilter = Criteria<typeof systemFilters> & ListQuery;

/** The query of the list. */
export const systemQuery = listQuery<SystemFilter>(['id', 'level', 'created_at'], systemFilters);

type SystemRecord = Listed<SystemLog>;

const logs = selection(columnsOf(SystemLog, 'l'), 'system_logs l');

export async function listSystemEntries(query: SystemFilter): Promise<Page<SystemRecord>> {
  const where = new Where()
    .equals('l.level', query.level)
    .equalsAscii('l.trace_id', query.trace_id)
    .contains('l.module', query.module)
    .contains('l.message', query.message)
    .during('l.created_at', query, 'l.period');
  return logs.page(query, where);
}

/** @throws log_not_found */
export const getSystemEntry = (id: number): Promise<SystemRecord> => getLog(logs, id);
