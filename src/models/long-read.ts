// Reads that may take long, such as counting a filter over all months: a few at a time, so that there are always connections
// left for payments.
import pLimit from 'p-limit';
import { config } from '../../config/index.js';

/** Runs a read when it is its turn. */
export const longRead = pLimit(Math.max(1, Math.floor(config.database.poolSize / 3)));
